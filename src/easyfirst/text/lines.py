"""Line ends: those of a wrapped paragraph are ordinary spaces; others are a layout that the tokenizer reads."""

from __future__ import annotations

import re

MIN_WIDTH = 40  # lines are not wrapped at fewer characters
SURE_WIDTH = 60  # a single line this long, or longer, is wrapped if the next word does not fit
_LINE = re.compile(r"[^\n]*\n?")
_ITEM = re.compile(r"\s*([-*•·‣◦>]|\(?(\d{1,3}[.)]|[a-zA-Z]\)))\s")  # begins an item of a list, or a quoted line


def unwrap(text: str) -> str:
    """Return a paragraph with a space for each line end that is there only because the line was full.

    Lines are filled up to the width of the longest, so a line is full if the first word of the next one would not have
    fitted. One such line may be chance: two are needed, or a paragraph of two lines of which the first is long.
    """
    if "\n" not in text:
        return text
    lines = _LINE.findall(text)[:-1]
    contents = [line.rstrip() for line in lines]
    width = max(map(len, contents))
    if width < MIN_WIDTH:
        return text
    full = [
        len(line) + 1 + len(after.split(None, 1)[0]) > width and _ITEM.match(after) is None if line and after else False
        for line, after in zip(contents, [*contents[1:], ""], strict=True)
    ]
    if sum(full) < 2 and not (len(lines) == 2 and width >= SURE_WIDTH):
        return text
    return "".join(line.replace("\n", " ") if is_full else line for line, is_full in zip(lines, full, strict=True))
