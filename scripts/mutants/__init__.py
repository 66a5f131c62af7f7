"""Do the tests notice what they are there for? Slips put into the code, one at a time."""
