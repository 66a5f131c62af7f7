"""The tables and figures of the five papers, measured again: `hesc reproduce ID`.

One module for each or for several of a kind, found by the ID, `<citation key>:<table-or-figure>`;
`hesc:...` is what no paper has.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hesc._support.studies import Study

# A module, or one of several studies in a module: `module:key`.
_MODULES: Final = {
    **{
        f"babenko2020ckksbfv:table-{table}": f"babenko2020ckksbfv:table-{table}"
        for table in range(2, 14)
    },
    **{
        f"carpov2016packing:figure-{figure}": f"carpov2016packing_figure_{figure}"
        for figure in range(1, 5)
    },
    "carpov2016packing:table-1": "carpov2016packing_table_1",
    "carpov2016packing:table-2": "carpov2016packing_table_2",
    "hesc:aes": "aes_blocks",
    "hesc:digits": "packed_digits",
    "hesc:encodings": "encodings",
    "hesc:integers": "integers",
    "hesc:kernels": "kernels",
    "hesc:layers": "layers",
    "hesc:linkage": "linkage",
    "hesc:linkage_scale": "scale_linkage",
    "hesc:matrices": "matrix_products",
    "hesc:models": "models",
    "hesc:neighbours": "neighbours",
    "hesc:page": "browser_page",
    "hesc:planner": "planner",
    "hesc:rings": "rings",
    "hesc:scale": "scale",
    "hesc:search": "search",
    "hesc:search_recall": "search_recall",
    "hesc:search_scale": "search_scale",
    "hesc:serving": "serving",
    "hesc:slots": "slots",
    "hesc:sorting": "sorting",
    "hesc:trees": "trees",
    **{
        f"hsiao2022sche:figure-{figure}": f"hsiao2022sche_figure_{figure}" for figure in range(2, 6)
    },
    **{
        f"koseki2022hesc:figure-{figure}": f"koseki2022hesc_figure_{figure}"
        for figure in (1, 2, 3, 5, 6, 7, 8, 9)
    },
    **{f"koseki2022hesc:table-{table}": f"koseki2022hesc_table_{table}" for table in range(2, 6)},
    "xu2016integers:table-1": "xu2016integers_table_1",
}


def identifiers() -> list[str]:
    """All IDs."""
    return list(_MODULES)


def study(identifier: str) -> Study:
    """The study of one of these IDs."""
    name, _, key = _MODULES[identifier].partition(":")
    module = import_module(f"hesc_papers.{name}")
    found: Study = module.STUDIES[key] if key else module
    return found
