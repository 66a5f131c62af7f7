"""`python -m hesc` is the command `hesc`."""

from hesc.cli import main

main()
