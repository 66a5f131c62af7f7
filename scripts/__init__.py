"""Scripts that write stored data; each says how to run it."""
