"""Estimators whose scores are linear in features, and what is made of them."""
