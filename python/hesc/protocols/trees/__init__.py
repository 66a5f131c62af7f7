"""Exact scores of models of trees: leaves are boxes of encrypted bits, and one round answers."""
