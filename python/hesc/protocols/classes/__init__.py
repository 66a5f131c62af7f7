"""Models that answer classes alone: the server compares, on encrypted integers.

Linear classifiers and trees, with features as integers of a few bits. `models` is what the server
computes, `plan` what both sides know, `client` and `server` are the parties.
"""
