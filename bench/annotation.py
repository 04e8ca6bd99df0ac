"""Measure how many corrections a tree needs if the parser completes it after each one, by the order of the corrections.

    python -m bench.annotation dev.conllu

A simulated annotator corrects the parses of a sample of sentences. After each correction the parser parses again, with
all corrections so far as constraints. The choice of the next word depends only on what the parser shows: its decisions,
their order and their confidence. A *correction* gives a word its head and its relation; with ``part`` in place of
``both``, only the head, or the relation if the head is right. The figure is the number of corrections divided by the
number of words whose head or relation is wrong in the first parse; without the parser's help it is 1. Words that the
annotator looked at are counted separately: an arc that did not change is looked at once.

A correction that no projective tree satisfies together with the others is made by hand, without the parser's help.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from bench.crossing import is_tree
from easyfirst import Constraints, Parse, Sentence
from easyfirst.errors import ConstraintError
from easyfirst.parser import Parser
from easyfirst.text.tagging import without_tags

Arc = tuple[int, str]  # a head and a relation
Order = Callable[[Parse], Sequence[int]]
"""``order(parse)`` returns the words in the order in which the annotator looks at them."""


def left_to_right(parse: Parse) -> Sequence[int]:
    return range(1, len(parse) + 1)


def first_decided(parse: Parse) -> Sequence[int]:
    return [*parse.steps.modifiers.tolist(), parse.tree.root]


def last_decided(parse: Parse) -> Sequence[int]:
    return first_decided(parse)[::-1]


def least_sure(parse: Parse) -> Sequence[int]:
    labels = labels_of(parse)
    return sorted(left_to_right(parse), key=lambda m: labels[m - 1])


def top_down(parse: Parse) -> Sequence[int]:
    depth: dict[int, int] = {}
    for m in left_to_right(parse):
        depth[m] = len(list(parse.tree.ancestors(m)))
    return sorted(depth, key=lambda m: (depth[m], m))


def bottom_up(parse: Parse) -> Sequence[int]:
    return top_down(parse)[::-1]


def labels_of(parse: Parse) -> Sequence[float]:
    assert parse.confidence is not None
    return parse.confidence.labels


@dataclass(frozen=True)
class Strategy:
    """What an annotator does."""

    name: str
    order: Order
    confirms: bool = False
    """Whether a word that was looked at and is right becomes a constraint."""
    surveys: bool = False
    """Whether the annotator looks at all words before each correction."""
    threshold: float = 1.0
    """Words that are surer than this are not looked at."""
    carries: str = "both"


@dataclass
class Case:
    """A sentence that is being annotated."""

    sentence: Sentence
    gold: Sequence[Arc]
    parse: Parse
    heads: dict[int, int] = field(default_factory=dict[int, int])
    relations: dict[int, str] = field(default_factory=dict[int, str])
    by_hand: dict[int, Arc] = field(default_factory=dict[int, Arc])
    seen: set[tuple[int, Arc]] = field(default_factory=set[tuple[int, Arc]])
    n_corrections: int = 0
    n_by_hand: int = 0

    def arc(self, m: int) -> Arc:
        return self.by_hand.get(m, (self.parse.heads[m - 1], self.parse.relations[m - 1]))

    def is_right(self, m: int) -> bool:
        self.seen.add((m, self.arc(m)))
        return self.arc(m) == self.gold[m - 1]

    def is_settled(self, m: int) -> bool:
        return m in self.by_hand or (m in self.heads and m in self.relations)

    @property
    def n_wrong(self) -> int:
        return sum(self.arc(m) != gold for m, gold in enumerate(self.gold, 1))

    def constraints(self) -> Constraints:
        return Constraints.of(heads=self.heads, relations=self.relations)

    def advance(self, strategy: Strategy, parser: Parser) -> bool:
        """Look at words until one is wrong, and correct it. Return whether there was one."""
        labels, wrong = labels_of(self.parse), 0
        for m in strategy.order(self.parse):
            if self.is_settled(m) or labels[m - 1] > strategy.threshold:
                continue
            if self.is_right(m):
                if strategy.confirms:
                    self.fix(m, self.gold[m - 1], parser)
            elif not wrong:
                wrong = m
                if not strategy.surveys:
                    break
        if wrong:
            self.correct(wrong, strategy, parser)
        return bool(wrong)

    def correct(self, m: int, strategy: Strategy, parser: Parser) -> None:
        head, relation = self.gold[m - 1]
        self.n_corrections += 1
        if strategy.carries == "both":
            is_done = self.fix(m, (head, relation), parser)
        elif self.arc(m)[0] != head:
            is_done = self.fix(m, (head, None), parser)
        else:
            is_done = self.fix(m, (None, relation), parser)
        if not is_done:
            self.by_hand[m] = head, relation
            self.n_by_hand += 1

    def fix(self, m: int, arc: tuple[int | None, str | None], parser: Parser) -> bool:
        """Make an arc a constraint, if there is a tree that satisfies all constraints."""
        before = self.heads, self.relations
        head, relation = arc
        self.heads = self.heads if head is None else {**self.heads, m: head}
        self.relations = self.relations if relation is None else {**self.relations, m: relation}
        try:
            for _ in parser.prepare([self.sentence], [self.constraints()]):
                pass
        except ConstraintError:
            self.heads, self.relations = before
            return False
        return True


STRATEGIES = (
    Strategy("left to right", left_to_right),
    Strategy("left to right, confirming", left_to_right, confirms=True),
    Strategy("first decided", first_decided),
    Strategy("first decided, head or relation", first_decided, carries="part"),
    Strategy("first decided, confirming", first_decided, confirms=True),
    Strategy("last decided", last_decided),
    Strategy("least sure", least_sure),
    Strategy("least sure, confirming", least_sure, confirms=True),
    Strategy("top-down", top_down),
    Strategy("top-down, confirming", top_down, confirms=True),
    Strategy("bottom-up, confirming", bottom_up, confirms=True),
    Strategy("survey, first decided", first_decided, confirms=True, surveys=True),
    Strategy("survey, least sure", least_sure, confirms=True, surveys=True),
    Strategy("survey, top-down", top_down, confirms=True, surveys=True),
    Strategy("survey, left to right", left_to_right, confirms=True, surveys=True),
    Strategy("first decided, only below 0.9", first_decided, confirms=True, threshold=0.9),
)


def simulate(parser: Parser, sentences: Sequence[Sentence], first: Sequence[Parse], strategy: Strategy) -> dict[str, Any]:
    cases = [
        Case(tagged, [(h or 0, r or "_") for h, r in zip(tagged.heads, tagged.relations, strict=True)], parse)
        for tagged, parse in zip(sentences, first, strict=True)
    ]
    n_wrong = sum(case.n_wrong for case in cases)
    start, rounds = time.process_time(), 0
    active = cases
    while active := [case for case in active if case.advance(strategy, parser)]:
        rounds += 1
        parses = parser.parse([case.sentence for case in active], constraints=[case.constraints() for case in active])
        for case, parse in zip(active, parses, strict=True):
            case.parse = parse
    n_corrections = sum(case.n_corrections for case in cases)
    return {
        "strategy": strategy.name,
        "wrong": n_wrong,
        "corrections": n_corrections,
        "ratio": round(n_corrections / n_wrong, 4),
        "looked_at": sum(len(case.seen) for case in cases),
        "words": sum(len(case.parse) for case in cases),
        "left_wrong": sum(case.n_wrong for case in cases),
        "by_hand": sum(case.n_by_hand for case in cases),
        "rounds": rounds,
        "seconds": round(time.process_time() - start, 1),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebank", type=Path)
    arguments.add_argument("--model", default="en")
    arguments.add_argument("--sentences", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    parser = easyfirst.load(options.model)
    trees = [sentence for sentence in easyfirst.read_conllu(options.treebank) if is_tree(sentence)]
    chosen = random.Random(options.seed).sample(trees, options.sentences)
    sentences = list(without_tags(chosen, parser.tagger, options.model))
    first = parser.parse(sentences)
    for strategy in STRATEGIES:
        print(simulate(parser, sentences, first, strategy), flush=True)


if __name__ == "__main__":
    main()
