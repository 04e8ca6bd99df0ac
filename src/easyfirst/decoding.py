"""From prepared sentences to parses: tags, derivations by one engine or another, and trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

from easyfirst.confidence.tree_lists import tree_probabilities
from easyfirst.constraints.chooser import constrain
from easyfirst.inputs import Prepared, tag
from easyfirst.meaning.subtrees import SubtreeEncoder
from easyfirst.model.parser_store import ParserModel
from easyfirst.parsing.actions import Choose
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine import Engine, NumpyEngine, measure_of
from easyfirst.parsing.n_best import Scored
from easyfirst.parsing.native_engine import NativeEngine
from easyfirst.parsing.validity import Validity
from easyfirst.results.explanations import Explanation, Observer
from easyfirst.results.parses import Parse
from easyfirst.results.rankings import Ranking
from easyfirst.text.tagging import Tagged, Tagger
from easyfirst.treebank.sentence import Sentence


class Beam(NamedTuple):
    """The number of hypotheses, and the number of trees that are returned for each sentence."""

    width: int = 1
    n_best: int = 1


GREEDY = Beam()


@dataclass(frozen=True)
class Decoder:
    """The parser and the steps after it, with fixed weights."""

    model: ParserModel
    engine: Engine
    validity: Validity | None

    @cached_property
    def numpy_engine(self) -> NumpyEngine:
        """The engine for beams and constraints, and for explanations of other engines."""
        if isinstance(self.engine, NumpyEngine):
            return self.engine
        return NumpyEngine.of(self.model.arrays, self.model.config, self.model.vocabulary)

    @cached_property
    def encoder(self) -> SubtreeEncoder:
        """The encoder of words and subtrees, behind :attr:`Parse.vectors`."""
        return SubtreeEncoder(self.model)

    def parse(
        self, prepared: Sequence[Prepared], tagger: Tagger | None, *, batch_size: int, beam: Beam = GREEDY
    ) -> list[Parse]:
        """Parse a batch. A sentence without constraints is parsed alike whether or not others have some."""
        tagged = tag(prepared, tagger, self.model.vocabulary)
        sentences = [each.sentence for each in tagged]
        if beam.width > 1:
            found = self.numpy_engine.search(sentences, beam.width, measure_of(self.model.config))
            return [self._ranked(*each, beam.n_best) for each in zip(prepared, tagged, found, strict=True)]
        derivations = self._derive(prepared, sentences, batch_size)
        return [self._result(*each) for each in zip(prepared, tagged, derivations, strict=True)]

    def explain(self, prepared: Prepared, tagger: Tagger | None, *, runners_up: int) -> Explanation:
        """Parse a sentence and record the alternatives of each step."""
        [tagged] = tag([prepared], tagger, self.model.vocabulary)
        observer = Observer(self.model.vocabulary.labels, runners_up)
        if isinstance(self.engine, NativeEngine) and not prepared.rules:
            [derivation] = self.engine.derive([tagged.sentence], see=observer.see)
        else:

            def observe(numbers: Sequence[int], choose: Choose) -> Choose:
                return constrain([len(tagged.sentence)], [prepared.rules], numbers, observer.wrap(choose))

            [derivation] = self.numpy_engine.derive([tagged.sentence], wrap=observe)
        return Explanation.of(self._result(prepared, tagged, derivation), observer)

    def _derive(self, prepared: Sequence[Prepared], tagged: Sequence[Sentence], batch_size: int) -> list[Derivation]:
        """Return greedy derivations, those of sentences with constraints by the NumPy engine."""
        free = [number for number, each in enumerate(prepared) if not each.rules]
        restricted = [number for number, each in enumerate(prepared) if each.rules]
        found = dict(zip(free, self.engine.derive([tagged[n] for n in free], batch_size=batch_size), strict=True))
        if restricted:
            chosen, rules = [tagged[n] for n in restricted], [prepared[n].rules for n in restricted]
            wrap = partial(constrain, [len(sentence) for sentence in chosen], rules)
            derivations = self.numpy_engine.derive(chosen, batch_size=batch_size, wrap=wrap)
            found.update(zip(restricted, derivations, strict=True))
        return [found[number] for number in range(len(prepared))]

    def _ranked(self, prepared: Prepared, tagged: Tagged, found: Sequence[Scored], n_best: int) -> Parse:
        """Return the best parse of a sentence with its alternatives. Derivations that crossing arcs or the rules of
        Universal Dependencies lead to the same tree count as one, with the sum of their probabilities."""
        parses = [self._result(prepared, tagged, each.derivation) for each in found]
        likely = tree_probabilities(self.model.calibration, [each.score for each in found], parses[0].confidence)
        total: dict[tuple[tuple[int, ...], tuple[str, ...]], float] = {}
        best: list[tuple[Parse, float]] = []
        for number, (parse, scored) in enumerate(zip(parses, found, strict=True)):
            key = parse.heads, parse.relations
            if key not in total:
                best.append((parse, scored.score))
            total[key] = total.get(key, 0.0) + (likely[number] if likely else 0.0)
        first, *others = (
            replace(parse, ranking=Ranking(rank, score, total[parse.heads, parse.relations] if likely else None))
            for rank, (parse, score) in enumerate(best[:n_best], 1)
        )
        return replace(first, alternatives=tuple(others))

    def _result(self, prepared: Prepared, tagged: Tagged, derivation: Derivation) -> Parse:
        rest = prepared.sentence, tagged.sentence, derivation, self.model.calibration, self.validity
        return Parse.of(*rest, tag_scores=tagged.tag_scores, constraints=prepared.constraints, encoder=self.encoder)
