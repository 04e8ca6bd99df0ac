"""Why a parse is as it is: at each step the pending list, the action that was chosen, and the alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.actions import Actions, Choose, head_and_modifier
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.derivation import Attachment
from easyfirst.render.drawing import Drawing
from easyfirst.render.notebook import notebook_steps
from easyfirst.render.steps import StepRow, draw_steps
from easyfirst.results.alternatives import Rivals, WordAlternative
from easyfirst.results.parses import Parse, shortened
from easyfirst.results.plain import finite
from easyfirst.treebank.lifting import Label, Mark

RUNNERS_UP = 3
RELATION, MARK, ARC, NOTHING = "relation", "mark", "arc", "nothing"
"""What an alternative would have changed of the chosen arc: its relation, only the mark beside the relation, the arc
itself, or nothing, since the arc could still have been made later."""
EFFECTS = {RELATION: "another relation", MARK: "another mark", ARC: "another arc", NOTHING: ""}


@dataclass(frozen=True, slots=True)
class Alternative:
    """An action that could have been taken. Words are numbered from 1."""

    head: int
    modifier: int
    relation: str
    score: float
    changes: str
    """What it would have changed of the chosen arc: ``relation``, ``mark``, ``arc`` or ``nothing``."""
    mark: Mark | None = None
    """Whether the modifier was to be moved to a head below this one (see ``Attachment.mark``)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the alternative for JSON, with its mark if it has one."""
        return {
            "head": self.head,
            "modifier": self.modifier,
            "relation": self.relation,
            "score": finite(self.score),
            "changes": self.changes,
        } | _mark_dict(self.mark)


@dataclass(frozen=True, slots=True)
class Explained:
    """One step: the attachment that was chosen, and its alternatives."""

    attachment: Attachment
    pending: tuple[int, ...]
    """The pending list before the step."""
    rival: Alternative | None
    """The best action that would have changed the arc; the margin is the distance to its score. None if constraints
    allowed no such action; then the margin is infinite."""
    runners_up: tuple[Alternative, ...]
    """The best other actions of any kind, best first."""

    def to_dict(self) -> dict[str, Any]:
        step = self.attachment
        return {
            "step": step.step,
            "head": step.head,
            "modifier": step.modifier,
            "relation": step.relation,
            "score": finite(step.score),
            "margin": finite(step.margin),
            "label_margin": finite(step.label_margin),
            "pending": list(self.pending),
            "rival": self.rival.to_dict() if self.rival else None,
            "runners_up": [other.to_dict() for other in self.runners_up],
        } | _mark_dict(step.mark)


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """A parse, step by step."""

    parse: Parse
    """The parse that is explained."""
    steps: tuple[Explained, ...]
    """The steps, in order."""
    alternatives: tuple[tuple[WordAlternative, ...], ...] = ()
    """The heads and relations that each word could have, the most probable first after its own."""

    @classmethod
    def of(cls, parse: Parse, observer: Observer) -> Explanation:
        """Join a parse with what was observed while it was made."""
        steps = zip(parse.derivation, observer.seen, strict=True)
        explained = tuple(Explained(attachment, *seen) for attachment, seen in steps)
        return cls(parse, explained, observer.rivals.of(parse))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation for JSON: :meth:`Parse.to_dict`, with ``steps``."""
        return self.parse.to_dict() | {"steps": [step.to_dict() for step in self.steps]}

    def __str__(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        return f"Explanation({shortened(' '.join(self.parse.tagged.forms))!r}, {len(self.steps)} steps)"

    def _repr_html_(self) -> str:
        return notebook_steps([self.drawing()])

    def draw(self, *, width: int | None = None) -> str:
        """Draw the steps as a table in text, ``width`` columns wide; below each step, the pending list around the
        chosen pair, and the runners-up."""
        confidence = self.parse.decided_confidence
        rows = [
            StepRow(
                head=step.attachment.head,
                modifier=step.attachment.modifier,
                relation=step.attachment.relation,
                numbers=(step.attachment.score, step.attachment.margin, step.attachment.label_margin),
                confidence=confidence.arcs[step.attachment.modifier - 1] if confidence else None,
                pending=step.pending,
                notes=self._notes(step),
            )
            for step in self.steps
        ]
        return draw_steps(self.parse.tagged.forms, rows, ("score", "margin", "label margin"), width=width)

    def drawing(self) -> Drawing:
        """Return the input of the page that steps through the derivation, and of all other pictures."""
        notes: list[Sequence[str]] = [()] * len(self.parse)
        for step in self.steps:
            notes[step.attachment.modifier - 1] = [self._chosen(step.attachment), *self._notes(step)]
        return replace(self.parse.drawing(), notes=notes)

    def _notes(self, step: Explained) -> list[str]:
        """Describe what became of the arc, the runners-up, and the rival if it is not among them."""
        others = list(step.runners_up)
        if others and step.rival is not None and step.rival not in others:
            others.append(step.rival)
        became = [*self._moved(step.attachment), *self._changed(step.attachment.modifier)]
        return [*became, *(self._note(other) for other in others)]

    def _moved(self, chosen: Attachment) -> list[str]:
        """Describe what became of an arc that was marked to be moved."""
        if chosen.mark is None or not chosen.mark.is_lifted:
            return []
        m, forms = chosen.modifier, self.parse.tagged.forms
        head = self.parse.decided_heads[m - 1]
        described = f"{forms[m - 1]} {m} was lifted, {chosen.mark.describe()}"
        if head == chosen.head:
            reason = "no word fits" if self.parse.constraints is None else "no word fits and satisfies the constraints"
            return [f"{described}: not moved, since {reason}"]
        return [f"{described}: moved to {forms[head - 1]} {head}"]

    def _changed(self, m: int) -> list[str]:
        """Describe what the rules of Universal Dependencies changed of the arc of a word."""
        parse = self.parse
        if m not in (*parse.changed_heads, *parse.changed_relations):
            return []
        h, relation, forms = parse.heads[m - 1], parse.relations[m - 1], parse.tagged.forms
        return [f"changed afterwards: {forms[m - 1]} {m} as {relation} of {forms[h - 1]} {h} (rules of UD)"]

    def _chosen(self, chosen: Attachment) -> str:
        return f"{self._named(chosen)}: chosen"

    def _note(self, other: Alternative) -> str:
        effect = EFFECTS[other.changes]
        return self._named(other) + (f" ({effect})" if effect else "")

    def _named(self, action: Alternative | Attachment) -> str:
        """Describe an action, after its score."""
        h, m, forms = action.head, action.modifier, self.parse.tagged.forms
        mark = "" if action.mark is None else f", {action.mark.describe()}"
        return f"{action.score:.2f}  {forms[m - 1]} {m} as {action.relation} of {forms[h - 1]} {h}{mark}"


def _mark_dict(mark: Mark | None) -> dict[str, Any]:
    return {} if mark is None else {"mark": mark.to_dict()}


class Observer:
    """Records the alternatives of each decision in one sentence."""

    def __init__(self, labels: Sequence[Label], runners_up: int) -> None:
        self._labels = labels
        self._runners_up = runners_up
        self.seen: list[tuple[tuple[int, ...], Alternative | None, tuple[Alternative, ...]]] = []
        """The pending list, the rival and the runners-up of each step."""
        self.rivals = Rivals(labels)
        """The best scores of all arcs, over all steps."""

    def wrap(self, choose: Choose) -> Choose:
        """Return a chooser that makes the same decisions and shows them."""

        def choose_and_see(candidates: Candidates, n_active: int) -> Actions:
            actions = choose(candidates, n_active)
            self.see(candidates, actions)
            return actions

        return choose_and_see

    def see(self, candidates: Candidates, actions: Actions) -> None:
        """Record the alternatives of a decision."""
        rows = _pending_rows(candidates, int(actions.left[0]))
        left, directions = np.repeat(rows[:-1], 2), np.tile([LEFT, RIGHT], len(rows) - 1)
        by_arc = candidates.scores_of(left, directions)
        by_arc[candidates.best(1)[0, 2 * left + directions] == -np.inf] = -np.inf  # forbidden by constraints
        scores, n_relations = by_arc.reshape(-1), candidates.n_relations  # by pair, direction and relation
        h, m = head_and_modifier(left, np.repeat(rows[1:], 2), directions)
        arc = 2 * int(np.flatnonzero(rows == actions.left[0])[0]) + int(actions.directions[0])
        chosen = self._labels[int(actions.relations[0])]
        self.rivals.see(h, m, by_arc, arc, int(actions.relations[0]))
        scores[arc * n_relations + int(actions.relations[0])] = -np.inf
        is_rival = np.isin(m, [h[arc], m[arc]])
        is_rival[arc] = False

        def alternative(place: int) -> Alternative:
            cell, relation = divmod(place, n_relations)
            label, score = self._labels[relation], float(scores[place])
            changes = ARC if is_rival[cell] else NOTHING
            if cell == arc:
                changes = MARK if label.relation == chosen.relation else RELATION
            return Alternative(int(h[cell]) + 1, int(m[cell]) + 1, label.relation, score, changes, label.mark)

        rivals = np.where(np.repeat(is_rival, n_relations), scores, -np.inf)
        rival = int(rivals.argmax())
        self.seen.append(
            (
                tuple((rows + 1).tolist()),
                alternative(rival) if np.isfinite(rivals[rival]) else None,
                tuple(alternative(place) for place in self._best(candidates, scores, left, directions)),
            )
        )

    def _best(self, candidates: Candidates, scores: Floats, left: Ints, directions: Ints) -> list[int]:
        """Return the places of the best scores, without those that lead into a dead end."""
        while True:
            places = _best(scores, self._runners_up)
            arcs = {place // candidates.n_relations for place in places}
            closed = [arc for arc in arcs if not candidates.is_feasible(int(left[arc]), int(directions[arc]))]
            if not closed:
                return places
            scores.reshape(-1, candidates.n_relations)[closed] = -np.inf


def _pending_rows(candidates: Candidates, somewhere: int) -> Ints:
    """Return the pending list that holds a row."""
    pending = candidates.pending
    rows = [somewhere]
    while (before := int(pending.previous[rows[0]])) != pending.outside:
        rows.insert(0, before)
    while (after := int(pending.next[rows[-1]])) != pending.outside:
        rows.append(after)
    return np.array(rows)


def _best(scores: Floats, n: int) -> list[int]:
    """Return the places of the n best finite scores, best first."""
    n = min(n, int(np.isfinite(scores).sum()))
    places: list[int] = np.argpartition(-scores, max(n - 1, 0))[:n].tolist()
    return sorted(places, key=lambda place: (-scores[place], place))
