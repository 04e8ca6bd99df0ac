"""Reads the derivation of one sentence off what an engine did to a batch, the plain way."""

from __future__ import annotations

from collections.abc import Sequence

from easyfirst.parsing.derivation import Attachment, Derivations


def derivation_of(derivations: Derivations, number: int, relation_names: Sequence[str]) -> list[Attachment]:
    """What an engine did to one sentence, given by its number in the batch."""
    start = int(derivations.starts[number]) - 1
    return [
        Attachment(
            step=step + 1,
            head=int(derivations.heads[step][number]) - start,
            modifier=int(derivations.modifiers[step][number]) - start,
            relation=relation_names[derivations.actions[step].relations[number]],
            score=float(derivations.actions[step].scores[number]),
            margin=float(derivations.actions[step].margins[number]),
            label_margin=float(derivations.actions[step].label_margins[number]),
        )
        for step in range(int(derivations.lengths[number]) - 1)
    ]
