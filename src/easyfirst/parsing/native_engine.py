"""The engine that runs in the compiled core, for networks of LSTMs."""

from __future__ import annotations

from collections.abc import Sequence

from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.native.encoder import GROUP, Given
from easyfirst.native.library import Core
from easyfirst.native.members import Members
from easyfirst.nn.parser_network import Network
from easyfirst.nn.sequences import longest_first
from easyfirst.parsing.derivation import Derivation, derivations_of
from easyfirst.parsing.engine import BATCH_SIZE, MAX_BATCH_WORDS
from easyfirst.treebank.sentence import Sentence


class NativeEngine:
    """Parses in the core. The result does not depend on the other sentences, and threads may share the engine."""

    def __init__(self, vocabulary: ParserVocabulary, core: Core, networks: Sequence[Network], precision: str) -> None:
        self._vocabulary = vocabulary
        self._members = Members(core, networks, precision)

    def derive(self, sentences: Sequence[Sentence], *, batch_size: int = BATCH_SIZE) -> list[Derivation]:
        """Return the derivation of each sentence, in order."""
        found: dict[int, Derivation] = {}
        names = self._vocabulary.relations, self._vocabulary.root_relation
        every_length = [len(sentence) for sentence in sentences]
        for batch in longest_first(every_length, max_rows=MAX_BATCH_WORDS):
            lengths = [every_length[number] for number in batch]
            ids = self._vocabulary.encode([sentences[number] for number in batch])
            steps = self._members.parse(Given.of_words(lengths, ids), group=min(GROUP, batch_size))
            found.update(zip(batch, derivations_of(lengths, *steps, *names), strict=True))
        return [found[number] for number in range(len(sentences))]
