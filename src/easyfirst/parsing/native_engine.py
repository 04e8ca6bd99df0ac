"""The engine that runs in the compiled core, for networks of LSTMs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.native.backend import Backend
from easyfirst.native.compiled import Decision, Members
from easyfirst.native.encoder import GROUP, Given
from easyfirst.nn.parser_network import Network
from easyfirst.nn.sequences import longest_first
from easyfirst.parsing.actions import Actions
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.derivation import Derivation, derivations_of
from easyfirst.parsing.engine import BATCH_SIZE, MAX_BATCH_WORDS, Engine, NumpyEngine
from easyfirst.parsing.pending import Pending
from easyfirst.treebank.sentence import Sentence

See = Callable[[Candidates, Actions], None]


class NativeEngine:
    """Parses in the core. The result does not depend on the other sentences, and threads may share the engine."""

    def __init__(self, vocabulary: ParserVocabulary, backend: Backend, *networks: Network) -> None:
        """``backend`` has a core; ``networks``: one, or the members of an ensemble."""
        assert backend.core is not None
        self._vocabulary, self._backend, self._networks = vocabulary, backend, networks
        self._members = Members(backend.core, networks, backend.precision)

    def __str__(self) -> str:
        return str(self._backend)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the weights; the process that loads them packs them for its own core, if it has one."""
        return engine_of, (self._vocabulary, self._backend, *self._networks)

    def derive(
        self, sentences: Sequence[Sentence], *, batch_size: int = BATCH_SIZE, see: See | None = None
    ) -> list[Derivation]:
        """Return the derivation of each sentence, in order. ``see`` is shown every decision with its candidates; then
        there is a single sentence."""
        found: dict[int, Derivation] = {}
        names = self._vocabulary.labels, self._vocabulary.root_relation
        every_length = [len(sentence) for sentence in sentences]
        observe = None if see is None else partial(self._show, see)
        for batch in longest_first(every_length, max_rows=MAX_BATCH_WORDS):
            lengths = [every_length[number] for number in batch]
            ids = self._vocabulary.encode([sentences[number] for number in batch])
            steps = self._members.parse(Given.of_words(lengths, ids), group=min(GROUP, batch_size), observe=observe)
            found.update(zip(batch, derivations_of(lengths, *steps, *names), strict=True))
        return [found[number] for number in range(len(sentences))]

    def _show(self, see: See, decision: Decision) -> None:
        """Show a decision in a sentence with the candidates as the NumPy engine has them."""
        n, n_relations = len(decision.scores), len(self._vocabulary.relations)
        pending = Pending([n])
        pending.next[:], pending.previous[:] = decision.next, decision.previous
        candidates = Candidates.empty(pending, n_relations)
        row, rows = decision.left, [decision.left]
        while (row := int(pending.previous[row])) != n:
            rows.append(row)
        row = decision.left
        while (row := int(pending.next[row])) != n:
            rows.append(row)
        left = np.array([row for row in rows if pending.next[row] != n])
        candidates.update(left, decision.scores[left, : 2 * n_relations])
        side, relation = decision.side, decision.relation
        score = decision.scores[decision.left, side * n_relations + relation]
        chosen = (np.array([value]) for value in (decision.left, side, relation, score))
        see(candidates, Actions(*chosen))


def engine_of(vocabulary: ParserVocabulary, backend: Backend, *networks: Network) -> Engine:
    """Make the engine of a backend for networks of LSTMs."""
    if backend.core is None:
        return NumpyEngine(vocabulary, *networks)
    return NativeEngine(vocabulary, backend, *networks)
