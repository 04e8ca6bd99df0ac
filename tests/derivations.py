"""Runs the loop and reads the derivation of each sentence off what it did to a batch, the plain way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.actions import Choose
from easyfirst.parsing.derivation import Attachment, BatchSteps
from easyfirst.parsing.engine import MarginRecorder
from easyfirst.parsing.loop import Loop


def derivation_of(
    steps: BatchSteps, number: int, relation_names: Sequence[str], recorder: MarginRecorder | None = None
) -> list[Attachment]:
    """Return what the loop did to one sentence, given by its number in the batch. Margins need their recorder."""
    start = int(steps.starts[number]) - 1
    lost_margins = recorder.lost_margins.tolist() if recorder else [math.inf] * int(steps.lengths.sum())
    return [
        Attachment(
            step=step + 1,
            head=int(steps.heads[step][number]) - start,
            modifier=int(steps.modifiers[step][number]) - start,
            relation=relation_names[steps.actions[step].relations[number]],
            score=float(steps.actions[step].scores[number]),
            margin=float(recorder.margins[step][number]) if recorder else math.inf,
            label_margin=float(recorder.label_margins[step][number]) if recorder else math.inf,
            lost_margin=lost_margins[int(steps.modifiers[step][number])],
        )
        for step in range(int(steps.lengths[number]) - 1)
    ]


def derive(
    networks: Sequence[Network],
    vectors: Floats,
    lengths: Sequence[int],
    relation_names: Sequence[str],
    wrap: Callable[[Choose], Choose] = lambda choose: choose,
) -> list[list[Attachment]]:
    """Parse a batch greedily and return the derivations of its sentences."""
    recorder = MarginRecorder(sum(lengths))
    steps = Loop(*networks).run(vectors, lengths, wrap(recorder))
    return [derivation_of(steps, number, relation_names, recorder) for number in range(len(lengths))]
