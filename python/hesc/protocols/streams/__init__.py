"""The network of stochastic numbers: evaluations of it, one beside the other."""
