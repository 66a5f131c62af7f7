"""Models that are nobody's secret: the client has the model, and nothing is encrypted."""
