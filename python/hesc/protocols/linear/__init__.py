"""Scores of linear models, and of trees in public bins, by ring products."""
