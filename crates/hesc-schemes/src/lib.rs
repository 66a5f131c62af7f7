//! Homomorphic encryption schemes as stochastic computing needs them.
