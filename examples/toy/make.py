"""Write the toy treebank: train.conllu and dev.conllu, from handwritten.conllu and a small grammar of English.

    python3 examples/toy/make.py            # into this directory
    python3 examples/toy/make.py --out DIR

The same files come out every time, byte for byte.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from grammar import Grammar, Node, word
from recipes import QUESTIONS, RECIPES, imperative

HERE = Path(__file__).resolve().parent
N_TRAIN, N_DEV = 230, 40
SHORTEST, LONGEST = 4, 16
CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"}
KEPT_OUT = {"The black fox who really likes apples did not jump over a lazy dog yesterday."}  # the README parses it


def draw(grammar: Grammar, seen: set[str]) -> Iterator[list[Node]]:
    """Yield the words of one new sentence after another, going round the constructions."""
    while True:
        for recipe in RECIPES:
            sentence = None
            while sentence is None:
                root = recipe(grammar)
                mark = "?" if recipe in QUESTIONS else "!" if recipe is imperative and grammar.chance(0.3) else "."
                root.right.append(word(mark, "PUNCT", ".", "punct", join="tight"))
                nodes = root.in_order()
                nodes[0].form = nodes[0].form[0].upper() + nodes[0].form[1:]
                if is_good(nodes) and text_of(nodes) not in seen | KEPT_OUT:
                    sentence = nodes
            seen.add(text_of(sentence))
            yield sentence


def is_good(nodes: list[Node]) -> bool:
    """Whether a sentence has a fair length and says no content word twice."""
    content = [node.lemma for node in nodes if node.upos in CONTENT]
    pronouns = [node.lemma for node in nodes if node.xpos == "PRP"]
    return (
        SHORTEST <= len(nodes) <= LONGEST
        and len(set(content)) == len(content)
        and len(set(pronouns)) == len(pronouns)
        and sum(node.upos == "ADV" for node in nodes) <= 2
        and not any(first.form == second.form for first, second in pairwise(nodes))
    )


def text_of(nodes: list[Node]) -> str:
    return "".join(node.form if node.join != "space" else f" {node.form}" for node in nodes).lstrip()


def conllu(nodes: list[Node], sentence_id: str) -> str:
    """The sentence as a block of CoNLL-U."""
    heads = {id(child): position for position, node in enumerate(nodes, 1) for child in node.left + node.right}
    lines = [f"# sent_id = {sentence_id}", f"# text = {text_of(nodes)}"]
    for position, node in enumerate(nodes, 1):
        after = nodes[position] if position < len(nodes) else None
        after_that = nodes[position + 1] if position + 1 < len(nodes) else None
        if after is not None and after.join == "clitic":
            misc = "SpaceAfter=No" if after_that is not None and after_that.join == "tight" else "_"
            span = f"{position}-{position + 1}"
            lines.append("\t".join([span, node.form + after.form, *["_"] * 7, misc]))
        is_tight = after is not None and after.join == "tight" and node.join != "clitic"
        head = str(heads.get(id(node), 0))
        columns = [str(position), node.form, node.lemma, node.upos, node.xpos, "_", head, node.rel, "_"]
        lines.append("\t".join([*columns, "SpaceAfter=No" if is_tight else "_"]))
    return "\n".join(lines) + "\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the toy treebank: train.conllu and dev.conllu.")
    parser.add_argument("--out", type=Path, default=HERE, help="the directory to write to (default: this one)")
    out: Path = parser.parse_args().out
    seen: set[str] = set()
    train = draw(Grammar(seed=2016), seen)
    dev = draw(Grammar(seed=445), seen)
    handwritten = (HERE / "handwritten.conllu").read_text(encoding="utf-8")
    files = {
        "train.conllu": handwritten + "".join(conllu(next(train), f"train-{n:03}") for n in range(1, N_TRAIN + 1)),
        "dev.conllu": "".join(conllu(next(dev), f"dev-{n:03}") for n in range(1, N_DEV + 1)),
    }
    for name, content in files.items():
        (out / name).write_text(content, encoding="utf-8", newline="\n")
        print(f"{name}: {content.count('# sent_id')} sentences")


if __name__ == "__main__":
    main()
