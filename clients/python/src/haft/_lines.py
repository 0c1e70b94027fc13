"""Takes lines from a part of an output."""

from __future__ import annotations

import re
from typing import Any, List, Mapping, Tuple

# Larger than any line number.
LAST_LINE = 1 << 53
# The last line of a part that did not fit, and the line that replaces bytes that the server did not store.
OMITTED = re.compile(r"\[… \d+ bytes (in \d+ lines )?omitted …\]")
NOT_KEPT = re.compile(r"\[… \d+ bytes not kept …\]")


def split_part(part: Mapping[str, Any], first: int, is_last: bool) -> Tuple[List[str], int, bool]:
    """Splits the part that begins with the line ``first``. Returns the lines, the number of the next one, and whether there
    are more to read now. ``is_last`` says that the output is complete, so that its last line needs no end.
    """
    end = part["total_lines"] + 1
    if not part["text"]:
        # The line has begun, but its first character is not complete yet.
        return [], end if is_last else first, False
    texts = part["text"].split("\n")
    ends_with_newline = texts[-1] == ""
    if ends_with_newline:
        texts.pop()
    if part["truncated"] and OMITTED.fullmatch(texts[-1]):
        return _split_cut_part(part, first, texts)
    if ends_with_newline or is_last:
        return texts, end, False
    return texts[:-1], end - 1, False


def _split_cut_part(part: Mapping[str, Any], first: int, texts: List[str]) -> Tuple[List[str], int, bool]:
    *texts, marker = texts
    omitted = part["omitted"]
    if any(NOT_KEPT.fullmatch(text) for text in texts):
        # Lines are missing in the middle, so that nothing tells the number of the next one.
        return [*texts, marker], part["total_lines"] + 1, False
    count = part["total_lines"] - omitted["lines"]
    shown_bytes = part["total_bytes"] - omitted["bytes"]
    if sum(len(text.encode()) + 1 for text in texts) == shown_bytes:
        return texts, first + count, True
    # The last line that is shown is cut. Only a line that is too long for one part is passed on like this.
    if len(texts) > 1:
        return texts[:-1], first + count - 1, True
    return ["".join(texts) + marker], first + max(count, 1), True
