"""Finds the program ``haft``."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path
from typing import Iterator, Optional, Union

from .errors import BinaryNotFound

VARIABLE = "HAFT_BINARY"
NAME = "haft"


def find_binary(binary: Optional[Union[str, os.PathLike[str]]] = None) -> str:
    """Returns the path of the program: the argument, the variable ``HAFT_BINARY``, the binary that was installed with this
    package, or the first one in ``PATH``.
    """
    for source, wanted in (("the argument 'binary'", binary), (VARIABLE, os.environ.get(VARIABLE))):
        if wanted:
            found = shutil.which(os.fspath(wanted))
            if not found:
                raise BinaryNotFound(f"'{os.fspath(wanted)}' of {source} is not an executable file")
            return found
    for place in _package_places():
        if os.access(place, os.X_OK) and place.is_file():
            return str(place)
    found = shutil.which(NAME)
    if found:
        return found
    raise BinaryNotFound(f"'{NAME}' was not found\nhint: install it, or set {VARIABLE} to its path")


def _package_places() -> Iterator[Path]:
    """The places where pip puts the programs of a package, beginning with this package's own."""
    site = Path(__file__).resolve().parent.parent
    if site.name in ("site-packages", "dist-packages"):
        # PREFIX/lib/pythonX.Y/site-packages
        yield site.parent.parent.parent / "bin" / NAME
        yield Path(sysconfig.get_path("scripts")) / NAME
    # pip install --target
    yield site / "bin" / NAME
