"""Write ``docs/relations.md``: every relation of the English model with an example of what the parser finds.

    python -m tools.docsite.relations

The meanings and the sentences are in ``relations.toml``. The parser finds the head and the modifier.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import tomllib

import easyfirst

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "relations.md"
INTRODUCTION = """\
# Relations

Look up what a relation means, with an example of each from the parser's own output.

```sh
easyfirst parse --text "The fox likes apples."
```

The bundled English model uses the {n} relations of its treebank, UD_English-EWT. In each example, the **modifier** is
bold and its *head* is in italics. A relation after a colon is a subtype: `nsubj:pass` is a kind of `nsubj`. The
[guidelines of Universal Dependencies](https://universaldependencies.org/u/dep/) define them in full. Other models can
use other relations; `easyfirst info my-model --json` lists them.
"""
NO_EXAMPLE = "The model predicts it too rarely for a short example."


class Relation(NamedTuple):
    """What a relation means, and a sentence that has it; an empty one if the parser finds it in no short sentence."""

    name: str
    meaning: str
    sentence: str


def read_groups() -> list[tuple[str, list[Relation]]]:
    """Return the groups of the page: their titles and relations."""
    groups = tomllib.loads((HERE / "relations.toml").read_text(encoding="utf-8"))["group"]
    return [(group["title"], [Relation(*row) for row in group["relations"]]) for group in groups]


def example(parser: easyfirst.Parser, relation: Relation) -> str:
    """Return the sentence of a relation in Markdown, with the first modifier that has it and its head marked."""
    if not relation.sentence:
        return NO_EXAMPLE
    for parse in parser(relation.sentence):
        if relation.name in parse.relations:
            m = parse.relations.index(relation.name) + 1
            return _marked(parse, {m: "**", parse.heads[m - 1]: "*"})
    raise ValueError(f"the parser finds no {relation.name} in {relation.sentence!r}; give another sentence")


def _marked(parse: easyfirst.Parse, marks: dict[int, str]) -> str:
    """Return the text of a parse with marks around some of its words."""
    text, end = parse.sentence.metadata["text"], 0
    parts: list[str] = []
    for m, form in enumerate(parse.sentence.forms, 1):
        start = text.index(form, end)
        mark = marks.get(m, "")
        parts.append(f"{text[end:start]}{mark}{form}{mark}")
        end = start + len(form)
    return "".join(parts) + text[end:]


def page() -> str:
    """Return the page."""
    parser = easyfirst.load("en")
    parts = [INTRODUCTION.format(n=len(parser.relations))]
    for title, relations in read_groups():
        parts += [f"\n## {title}\n\n| Relation | Meaning | Example |\n| --- | --- | --- |\n"]
        parts += [f"| `{one.name}` | {one.meaning} | {example(parser, one)} |\n" for one in relations]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
