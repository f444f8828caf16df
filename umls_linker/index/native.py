"""The compiled libraries behind the index, imported when first needed.

Neither is needed by a page that looks nothing up, and QuickUMLS, which brings them, takes seconds to import.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

# unqlite's own flags, which the binding does not name.
READ_ONLY, CREATE, NO_JOURNAL, MAPPED = 0x001, 0x004, 0x040, 0x100


@cache
def simstring() -> Any:
    """QuickUMLS's build of SimString. Call it before QuickUMLS itself is imported.

    Its Python part asks for the module `imp`, which Python has had no more since 3.12. It wants nothing of it but the
    library that lies beside, and falls back to a plain import when `imp` does not find that; so a stand-in finds
    nothing, on every Python.
    """
    had = sys.modules.get("imp")
    sys.modules["_simstring"] = _library()
    sys.modules["imp"] = _Imp("imp")
    try:
        from quickumls_simstring import simstring as module
    finally:
        del sys.modules["imp"]
        if had is not None:
            sys.modules["imp"] = had
    return module


class _Imp(ModuleType):
    def find_module(self, name: str, *_: object) -> None:
        raise ImportError(name)


def _library() -> ModuleType:
    package = importlib.util.find_spec("quickumls_simstring")
    folders = list(package.submodule_search_locations or ()) if package else []
    found = importlib.machinery.PathFinder.find_spec("_simstring", folders)
    if found is None or found.loader is None:
        raise ImportError("quickumls-simstring is not installed.")
    library = importlib.util.module_from_spec(found)
    found.loader.exec_module(library)
    return library


def unqlite_open(path: Path, *, writable: bool = False) -> Any:
    """An unqlite database: a new one to write, or an existing one for reading only, without a lock and mapped."""
    import unqlite

    return unqlite.UnQLite(str(path), flags=CREATE | NO_JOURNAL if writable else READ_ONLY | MAPPED)


def unqlite_error() -> type[Exception]:
    """What unqlite raises when a database cannot be read. It opens a file with the first look-up and not before."""
    import unqlite

    error: type[Exception] = unqlite.UnQLiteError
    return error
