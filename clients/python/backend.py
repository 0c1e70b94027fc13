"""Builds the wheel, without other packages. `pip` calls it (PEP 517 and PEP 660).

The version is that of the workspace. If the variable HAFT_BINARY is set, the wheel has that binary as the program `haft`.
Equal inputs give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Dict, Iterator, Optional, Tuple

ROOT = Path(__file__).resolve().parent
# The oldest time that a zip file can have.
DEFAULT_EPOCH = 315532800
FILE_MODE, PROGRAM_MODE = 0o100644, 0o100755
Files = Dict[str, Tuple[int, bytes]]


def version() -> str:
    """The version in the workspace's manifest, or in the source archive."""
    manifests = [ROOT.parent.parent / "Cargo.toml", ROOT / "Cargo.toml"]
    manifest = next(path for path in manifests if path.exists())
    found = re.search(r'^\[workspace\.package\]\nversion = "(.*)"$', manifest.read_text(), re.MULTILINE)
    assert found, f"no version in {manifest}"
    return found[1]


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: Optional[str] = None) -> str:
    """Builds the wheel and returns its name."""
    binary = os.environ.get("HAFT_BINARY")
    files: Files = {}
    for path in sorted((ROOT / "src").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(ROOT / "src").as_posix()] = (FILE_MODE, path.read_bytes())
    tag = "py3-none-any"
    if binary:
        program = Path(binary).read_bytes()
        files[f"haft-{version()}.data/scripts/haft"] = (PROGRAM_MODE, program)
        tag = f"py3-none-{platform_tag(program)}"
    return write_wheel(Path(wheel_directory), tag, files)


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: Optional[str] = None) -> str:
    """Builds a wheel that refers to this directory."""
    return write_wheel(Path(wheel_directory), "py3-none-any", {"haft.pth": (FILE_MODE, f"{ROOT / 'src'}\n".encode())})


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Builds the source archive and returns its name."""
    name = f"haft-{version()}"
    with tarfile.open(Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for entry in ("src", "tests", "README.md", "pyproject.toml", "backend.py"):
            archive.add(ROOT / entry, f"{name}/{entry}", filter=lambda info: None if "__pycache__" in info.name else info)
        archive.add(ROOT.parent.parent / "Cargo.toml", f"{name}/Cargo.toml")
    return f"{name}.tar.gz"


def platform_tag(program: bytes) -> str:
    """The platform that a program needs, from the versions of the C library that it names."""
    machine = platform.machine()
    versions = [int(found) for found in re.findall(rb"GLIBC_2\.(\d+)", program)]
    if versions:
        return f"manylinux_2_{max(versions)}_{machine}"
    # A static program runs with any C library.
    return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"


def write_wheel(directory: Path, tag: str, files: Files) -> str:
    """Writes the wheel with its metadata."""
    info = f"haft-{version()}.dist-info"
    files = {**files, **{f"{info}/{name}": (FILE_MODE, data) for name, data in metadata(tag)}}
    record = "".join(
        f"{name},sha256={digest(data)},{len(data)}\n" for name, (_, data) in files.items()
    )
    files[f"{info}/RECORD"] = (FILE_MODE, f"{record}{info}/RECORD,,\n".encode())
    name = f"haft-{version()}-{tag}.whl"
    epoch = max(int(os.environ.get("SOURCE_DATE_EPOCH", DEFAULT_EPOCH)), DEFAULT_EPOCH)
    with zipfile.ZipFile(directory / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, (mode, data) in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(epoch)[:6])
            entry.external_attr = mode << 16
            entry.create_system = 3  # Unix, which has modes
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def metadata(tag: str) -> Iterator[Tuple[str, bytes]]:
    """The files of the directory `dist-info`, except the list of all files."""
    readme = (ROOT / "README.md").read_text()
    headers = [
        "Metadata-Version: 2.4",
        "Name: haft",
        f"Version: {version()}",
        "Summary: Runs bash scripts under supervision",
        "License-Expression: MIT OR Apache-2.0",
        "Requires-Python: >=3.9",
        "Description-Content-Type: text/markdown",
    ]
    yield "METADATA", ("\n".join(headers) + f"\n\n{readme}").encode()
    python, abi, platforms = tag.split("-")
    tags = "".join(f"Tag: {python}-{abi}-{platform}\n" for platform in platforms.split("."))
    pure = str(platforms == "any").lower()
    yield "WHEEL", f"Wheel-Version: 1.0\nGenerator: haft\nRoot-Is-Purelib: {pure}\n{tags}".encode()
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        licence = ROOT.parent.parent / name
        if licence.exists():
            yield f"licenses/{name}", licence.read_bytes()


def digest(data: bytes) -> str:
    """The checksum of a file in the form that wheels use."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
