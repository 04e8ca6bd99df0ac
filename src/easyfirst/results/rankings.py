"""The place of a tree among the best trees of its sentence, as a beam finds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from easyfirst.confidence.estimates import rounded
from easyfirst.treebank.comments import with_comments

RANK, SCORE, PROBABILITY = "parse_rank", "parse_score", "parse_probability"
_OWN = tuple(name.encode() for name in (RANK, SCORE, PROBABILITY))
_ONCE = (b"newdoc", b"newpar")  # the comments that would begin a document or a paragraph again


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rank, the score and the probability of a tree."""

    rank: int
    """From 1, the tree with the highest score."""
    score: float
    """The sum of the scores of all actions. It compares trees of one sentence, and nothing else."""
    probability: float | None = None
    """The probability that all heads and relations are correct; None without a calibration for beams."""

    def __str__(self) -> str:
        likely = "" if self.probability is None else f", probability {rounded(self.probability):.4f}"
        return f"tree {self.rank}: score {self.score:.2f}{likely}"

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        probability = None if self.probability is None else rounded(self.probability)
        return {"rank": self.rank, "score": round(self.score, 4), "probability": probability}

    def annotate(self, block: bytes) -> bytes:
        """Add the ranking to the comments of a sentence in CoNLL-U, or replace that of an earlier parse. A tree after
        the first begins no document and no paragraph."""
        return with_comments(block, self._comments(), keeps=self._keeps)

    def _keeps(self, line: bytes) -> bool:
        comment = line[1:].strip()
        is_repeated = not line.startswith(b"#") or comment.startswith(_ONCE)
        return not comment.startswith(_OWN) and (self.rank == 1 or not is_repeated)

    def _comments(self) -> Iterator[str]:
        yield f"# {RANK} = {self.rank}"
        yield f"# {SCORE} = {self.score:.4f}"
        if self.probability is not None:
            yield f"# {PROBABILITY} = {rounded(self.probability):.4f}"
