"""How predictions are had, in the clear or not, and options that only some ways have."""

from __future__ import annotations

from typing import Any, Literal

from hesc._native import ParameterError

Mode = Literal["clear", "simulate", "execute"]


def has_probabilities(private: Any) -> bool:
    """Whether the estimator inside has `predict_proba`."""
    return hasattr(private.estimator, "predict_proba")


def no_options(options: dict[str, Any]) -> None:
    """Refuses options of encrypted runs where there is none.

    Raises:
        ParameterError: naming them.

    """
    if options:
        raise ParameterError(
            f"{', '.join(options)}: of fhe='simulate' and 'execute', not of fhe='clear'"
        )
