"""Measure how many corrections a tree needs if the parser completes it after each one, by what the annotator does.

    python -m bench.annotation dev.conllu

A simulated annotator corrects the parses of a random sample of sentences until all trees are those of the treebank.
After each correction the parser parses again, with what is known so far as constraints. Which word the annotator looks
at next depends only on what the parser shows: its tree, the order of its decisions, and its confidence.

- A *correction* gives a word its head and its relation. In "part by part" it gives only the head, or the relation if
  the head is right.
- *Confirming*: a word that was looked at and is right becomes a constraint. Otherwise, only corrections do.
- *Reading first*: the annotator looks at all words before each correction, and corrects the first one that is wrong.
  Otherwise, the annotator corrects a wrong word at once.
- *Rejecting*: a wrong arc that the annotator has seen becomes a forbidden arc; if only the relation is wrong, the head
  is confirmed and the relation forbidden. In "two chances", a word is corrected only when it is wrong again.

The figure is the number of corrections per word whose head or relation is wrong in the first parse: without help it is
1. Rejections and the arcs that were looked at are counted as well; an arc that has not changed is looked at once.

A correction that no projective tree satisfies together with the others is made by hand, without the parser's help. If
rejections make constraints unsatisfiable, those of the sentence are dropped. Tags are predicted.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import random
import time
from collections import Counter
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
    return sorted(left_to_right(parse), key=parse.tree.depth)


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
    reads_first: bool = False
    """Whether the annotator looks at all words before each correction."""
    rejects: bool = False
    """Whether an arc that was found wrong is forbidden."""
    chances: int = 1
    """How often a word is found wrong before it is corrected."""
    part_by_part: bool = False
    """Whether a correction gives a head or a relation."""
    threshold: float = 1.0
    """Words that are surer than this are not looked at."""


@dataclass
class Case:
    """A sentence that is being annotated."""

    sentence: Sentence
    gold: Sequence[Arc]
    parse: Parse
    heads: dict[int, int] = field(default_factory=dict[int, int])
    relations: dict[int, str] = field(default_factory=dict[int, str])
    forbidden: dict[tuple[int, int, str | None], None] = field(default_factory=dict[tuple[int, int, str | None], None])
    by_hand: dict[int, Arc] = field(default_factory=dict[int, Arc])
    seen: set[tuple[int, Arc]] = field(default_factory=set[tuple[int, Arc]])
    counts: Counter[str] = field(default_factory=Counter[str])
    n_times_wrong: Counter[int] = field(default_factory=Counter[int])

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
        forbidden = [arc for arc in self.forbidden if not self.is_settled(arc[1])]
        return Constraints.of(heads=self.heads, relations=self.relations, forbidden=forbidden)

    def is_satisfiable(self, parser: Parser) -> bool:
        try:
            for _ in parser.prepare([self.sentence], [self.constraints()]):
                pass
        except ConstraintError:
            return False
        return True

    def advance(self, strategy: Strategy, parser: Parser) -> bool:
        """Look at words, and correct one that is wrong. Return whether there was one."""
        labels, wrong = labels_of(self.parse), list[int]()
        for m in strategy.order(self.parse):
            if self.is_settled(m) or labels[m - 1] > strategy.threshold:
                continue
            if not self.is_right(m):
                wrong.append(m)
                if not strategy.reads_first:
                    break
            elif strategy.confirms:
                self.fix(m, *self.gold[m - 1], parser)
        if strategy.rejects:
            for m in wrong:
                self.reject(m, parser)
        self.n_times_wrong.update(wrong)
        due = [m for m in wrong if self.n_times_wrong[m] >= strategy.chances]
        if due:
            self.correct(due[0], strategy, parser)
        if not self.is_satisfiable(parser):
            self.forbidden.clear()
        return bool(wrong)

    def reject(self, m: int, parser: Parser) -> None:
        """Forbid a wrong head, or fix a head and forbid its wrong relation."""
        self.counts["rejections"] += 1
        (head, relation), gold = self.arc(m), self.gold[m - 1]
        if head == gold[0]:
            self.fix(m, head, None, parser)
        self.forbidden[head, m, relation if head == gold[0] else None] = None

    def correct(self, m: int, strategy: Strategy, parser: Parser) -> None:
        self.counts["corrections"] += 1
        head, relation = self.gold[m - 1]
        if not strategy.part_by_part:
            is_done = self.fix(m, head, relation, parser)
        elif self.arc(m)[0] != head:
            is_done = self.fix(m, head, None, parser)
        else:
            is_done = self.fix(m, None, relation, parser)
        if not is_done:
            self.counts["by_hand"] += 1
            self.by_hand[m] = head, relation

    def fix(self, m: int, head: int | None, relation: str | None, parser: Parser) -> bool:
        """Make an arc a constraint. Return whether there is a tree that satisfies all constraints; if not, undo it."""
        before = self.heads, self.relations, self.forbidden
        self.heads = self.heads if head is None else {**self.heads, m: head}
        self.relations = self.relations if relation is None else {**self.relations, m: relation}
        self.forbidden = {}
        is_possible = self.is_satisfiable(parser)
        heads, relations, self.forbidden = before
        if not is_possible:
            self.heads, self.relations = heads, relations
        return is_possible


STRATEGIES = (
    Strategy("left to right", left_to_right),
    Strategy("left to right, confirming", left_to_right, confirms=True),
    Strategy("first decided", first_decided),
    Strategy("first decided, part by part", first_decided, part_by_part=True),
    Strategy("first decided, confirming", first_decided, confirms=True),
    Strategy("last decided, confirming", last_decided, confirms=True),
    Strategy("least sure", least_sure),
    Strategy("least sure, confirming", least_sure, confirms=True),
    Strategy("top-down, confirming", top_down, confirms=True),
    Strategy("reading first: left to right", left_to_right, confirms=True, reads_first=True),
    Strategy("reading first: first decided", first_decided, confirms=True, reads_first=True),
    Strategy("reading first: first decided, part by part", first_decided, True, True, part_by_part=True),
    Strategy("reading first: least sure", least_sure, confirms=True, reads_first=True),
    Strategy("reading first: top-down", top_down, confirms=True, reads_first=True),
    Strategy("first decided, confirming and rejecting, two chances", first_decided, True, rejects=True, chances=2),
    Strategy("reading first, rejecting: left to right", left_to_right, True, True, rejects=True),
    Strategy("reading first, rejecting: first decided", first_decided, True, True, rejects=True),
    Strategy("reading first, rejecting: least sure", least_sure, True, True, rejects=True),
    Strategy("reading first, rejecting: first decided, two chances", first_decided, True, True, True, 2),
    Strategy(
        "reading first, rejecting: first decided, only below 90 %", first_decided, True, True, True, threshold=0.9
    ),
)
HEADER = ("strategy", "corrections", "per wrong word", "rejections", "looked at", "by hand", "left wrong")


def simulate(
    parser: Parser, sentences: Sequence[Sentence], first: Sequence[Parse], strategy: Strategy
) -> dict[str, Any]:
    """Annotate all sentences side by side, and return the counts."""
    cases = [
        Case(
            sentence,
            [(head or 0, name or "_") for head, name in zip(sentence.heads, sentence.relations, strict=True)],
            parse,
        )
        for sentence, parse in zip(sentences, first, strict=True)
    ]
    n_wrong = sum(case.n_wrong for case in cases)
    start, active = time.process_time(), cases
    while active := [case for case in active if case.advance(strategy, parser)]:
        parses = parser.parse([case.sentence for case in active], constraints=[case.constraints() for case in active])
        for case, parse in zip(active, parses, strict=True):
            case.parse = parse
    counts = sum((case.counts for case in cases), Counter[str]())
    return {
        "strategy": strategy.name,
        "corrections": counts["corrections"],
        "per_wrong_word": round(counts["corrections"] / n_wrong, 4),
        "rejections": counts["rejections"],
        "looked_at": sum(len(case.seen) for case in cases),
        "by_hand": counts["by_hand"],
        "left_wrong": sum(case.n_wrong for case in cases),
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebank", type=Path)
    arguments.add_argument("--model", default="en")
    arguments.add_argument("--sentences", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--name", default="annotation", help="of the results file")
    arguments.add_argument("--strategies", nargs="+", metavar="NAME", help="only these")
    options = arguments.parse_args()
    strategies = [each for each in STRATEGIES if each.name in (options.strategies or [each.name])]
    parser = easyfirst.load(options.model)
    trees = [sentence for sentence in easyfirst.read_conllu(options.treebank) if is_tree(sentence)]
    sample = random.Random(options.seed).sample(trees, options.sentences)
    sentences = list(without_tags(sample, parser.tagger, options.model))
    first = parser.parse(sentences)
    gold = [list(zip(sentence.heads, sentence.relations, strict=True)) for sentence in sentences]
    shown = [list(zip(parse.heads, parse.relations, strict=True)) for parse in first]
    pairs = [pair for sentence in zip(gold, shown, strict=True) for pair in zip(*sentence, strict=True)]
    facts = {
        "model": options.model,
        "treebank": options.treebank.name,
        "sentences": len(sentences),
        "seed": options.seed,
        "words": len(pairs),
        "wrong_words": sum(right != found for right, found in pairs),
        "wrong_heads": sum(right[0] != found[0] for right, found in pairs),
    }
    rows: list[dict[str, Any]] = []
    for strategy in strategies:
        rows.append(simulate(parser, sentences, first, strategy))
        cells = [[value for key, value in row.items() if key != "cpu_seconds"] for row in rows]
        report.write(options.name, {**facts, "rows": rows}, HEADER, cells, quiet=True)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
