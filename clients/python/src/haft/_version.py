"""The version of this package, from its metadata."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("haft")
except PackageNotFoundError:  # It runs from a checkout.
    __version__ = "0"
