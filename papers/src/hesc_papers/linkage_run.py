"""A linkage of FEBRL's people in a process of its own, on as many threads as that is given."""

from __future__ import annotations

import json
import sys

from hesc.protocols.linkage.demonstration import link

if __name__ == "__main__":
    records = int(sys.argv[1])
    for _ in sys.stdin:
        sys.stdout.write(json.dumps(link(records).figures()) + "\n")
        sys.stdout.flush()
