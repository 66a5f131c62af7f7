//! Stochastic numbers: bit streams, generators, encoders and decoding; knows no cryptography.
