"""Wheels of hesc: how they are built, and what is tested and measured of them."""
