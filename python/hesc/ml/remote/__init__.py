"""A model of a service, by its address: `hesc.Client` and `hesc.AsyncClient`.

Both fetch a plan, make and keep keys, encrypt, ask, wait, ask again and decrypt. docs/serving.md is
the tutorial.
"""
