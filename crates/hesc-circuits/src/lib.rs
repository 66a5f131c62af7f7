//! What is computed on stochastic ciphertexts: operations, layouts, fusion, networks.
