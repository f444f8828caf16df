"""How the index stores what a term means: one number for concept, kind and mark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from umls_linker.domain.vocabulary import Kind

_CODE = 16
_PREFERRED = 8
_KINDS = tuple(Kind)  # by their numbers; to call `Kind` for each of thousands costs more than all the rest


def encoded(concept: int, kind: int, preferred: bool) -> int:
    """`concept` is its place in the order of CUIs; 28 bits of it fit."""
    return _CODE * concept + kind + (_PREFERRED if preferred else 0)


def concept_of(code: int) -> int:
    return code // _CODE


def concepts_of(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return codes // np.uint32(_CODE)


def kind_of(code: int) -> Kind:
    return _KINDS[code % _PREFERRED]


def is_preferred(code: int) -> bool:
    return bool(code & _PREFERRED)
