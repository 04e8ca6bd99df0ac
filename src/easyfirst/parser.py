"""The facade: load a model, parse texts and sentences.

>>> nlp = easyfirst.load("en")  # doctest: +SKIP
>>> nlp("The fox jumps. It likes apples.")  # doctest: +SKIP
Document('The fox jumps. It likes apples.', 2 sentences, 8 words)
>>> nlp.parse([["The", "fox", "jumps"]])  # doctest: +SKIP
[Parse('The fox jumps', heads=(2, 3, 0), relations=('det', 'nsubj', 'root'))]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path

from easyfirst.constraints.arguments import ConstraintsOf, GivenConstraints, constrained, one_of
from easyfirst.constraints.conflicts import compile_constraints
from easyfirst.constraints.records import Constraints
from easyfirst.decoding import Beam, Decoder
from easyfirst.errors import InputError, ModelError
from easyfirst.inputs import (
    Prepared,
    SentenceLike,
    check_batch_size,
    check_beam,
    check_reads_text,
    check_sentences,
    check_tags,
    check_texts,
    check_threads,
    prepare_from_text,
    texts_only,
    to_sentence,
)
from easyfirst.meaning.subtrees import SubtreeEncoder
from easyfirst.model.bundled import find_model
from easyfirst.model.ensemble import make_ensemble, short_names
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_store import ParserModel
from easyfirst.model.saving import load_model, save_model
from easyfirst.model.tagger_store import make_tagger_ensemble
from easyfirst.native.backend import Backend
from easyfirst.parsing.engine import BATCH_SIZE, Engine
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.parsing.validity import Validity
from easyfirst.reopening import Portable
from easyfirst.results.documents import Document
from easyfirst.results.explanations import RUNNERS_UP, Explanation
from easyfirst.results.parses import Parse
from easyfirst.streaming import ParseBatch, parse_batches, parse_stream, read_stream, watch_parses
from easyfirst.text.language import Language
from easyfirst.text.sentences import TokenizedText
from easyfirst.text.tagging import Tagger
from easyfirst.text.tokenizing import Tokenizer
from easyfirst.workers import Workers


def load(
    name: str | PathLike[str], *, engine: str | None = None, precision: str | None = None, valid: bool = True
) -> Parser:
    """Load a bundled or installed model (``"en"``) or a model directory, with its tokenizer and tagger if it has them.

    ``engine`` is ``"native"``, the compiled core, or ``"numpy"``. ``precision`` is that of the core's weights:
    ``"float32"``, ``"int8"`` or ``"int8-fast"``. The defaults are taken from the environment (``EASYFIRST_ENGINE``,
    ``EASYFIRST_PRECISION``), or else are the core, if this installation has one, and ``"int8"``. With ``valid``, the
    trees of a Universal Dependencies model obey the rules of its validator (:attr:`Parse.changes`).

    Raise a :class:`easyfirst.errors.ModelError` if the model cannot be used, and a
    :class:`easyfirst.errors.ConfigError` if the engine cannot.
    """
    backend = Backend.choose(engine, precision)
    path = find_model(name)
    model, tokenizer_model, tagger_model = load_model(path)
    tokenizer = None if tokenizer_model is None else Tokenizer(tokenizer_model, backend)
    tagger = None if tagger_model is None else Tagger(tagger_model, backend)
    parsing = make_engine(model.arrays, model.config, model.vocabulary, backend)
    parser = Parser(model, tokenizer=tokenizer, tagger=tagger, engine=parsing, valid=valid)
    return parser.opened(load, name, engine, precision, valid)


def combine(
    *names: str | PathLike[str], engine: str | None = None, precision: str | None = None, valid: bool = True
) -> Parser:
    """Combine parsers that were trained on the same treebank with different seeds into an ensemble.

    The score of an action is the mean over the ensemble. It should parse better than each member, and takes as long as
    all of them. If all have taggers, these form an ensemble too. Give names as for :func:`load`, one by one:
    ``combine("one", "two")``; ``engine``, ``precision`` and ``valid`` as there. Raise a
    :class:`easyfirst.errors.ModelError` if they cannot be combined.
    """
    called = short_names(names)
    backend = Backend.choose(engine, precision)
    parsers = [load(name, engine="numpy") for name in names]
    model = make_ensemble([parser.model for parser in parsers], called)
    taggers = [parser.tagger.model for parser in parsers if parser.tagger is not None]
    tokenizers = (Tokenizer(parser.tokenizer.model, backend) for parser in parsers if parser.tokenizer is not None)
    parsing = make_engine(model.arrays, model.config, model.vocabulary, backend)
    if 0 < len(taggers) < len(parsers):
        without = next(name for name, parser in zip(called, parsers, strict=True) if parser.tagger is None)
        raise ModelError(f"{without} has no tagger, and others have one; add it (easyfirst train --parts tagger)")
    tagger = Tagger(make_tagger_ensemble(taggers, called), backend) if taggers else None
    return Parser(model, tokenizer=next(tokenizers, None), tagger=tagger, engine=parsing, valid=valid)


class Parser(Portable):
    """A trained model, ready to parse. Parsing does not change it, so threads may share one."""

    def __init__(
        self,
        model: ParserModel,
        *,
        tokenizer: Tokenizer | None = None,
        tagger: Tagger | None = None,
        engine: Engine | None = None,
        valid: bool = True,
    ) -> None:
        """Make a parser. Without a ``tokenizer`` it cannot read texts; without a ``tagger`` it may need tags. ``valid``
        as for :func:`load`."""
        self._model = model
        self._validity = Validity.of(model.vocabulary) if valid else None
        self._engine = engine or make_engine(model.arrays, model.config, model.vocabulary)
        self.tokenizer: Tokenizer | None = tokenizer
        """The tokenizer; None if the model has none."""
        self.tagger: Tagger | None = tagger
        """The tagger; None if the model has none."""

    def __call__(self, text: str, *, threads: int = 1, beam: int = 1, n_best: int = 1) -> Document:
        """Parse a text of any length. ``threads``, ``beam`` and ``n_best`` as for :meth:`parse`; a single text is
        tokenized by one thread."""
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"expected a text, got {type(text).__name__}; for lists of words use parse()")
        [document] = self.read([text], threads=threads, beam=beam, n_best=n_best)
        return document

    def __repr__(self) -> str:
        tags = " and ".join(kind.upper() for kind in self.reads_tags) or "no"
        n_words = len(self._model.vocabulary.words)
        return f"<Parser: preset {self.config.preset}, {tags} tags, {len(self.relations)} relations, {n_words:,} words>"

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self._model, self._engine, self._validity)

    @cached_property
    def language(self) -> Language:
        """The letters and frequent words of the training data, which tell whether a text is in another language."""
        return Language.of_model(self._model, *(part.model for part in (self.tokenizer, self.tagger) if part))

    @property
    def encoder(self) -> SubtreeEncoder:
        """The encoder of words and subtrees, behind :attr:`Parse.vectors`."""
        return self._decoder.encoder

    @property
    def model(self) -> ParserModel:
        """The contents of the model directory."""
        return self._model

    @property
    def config(self) -> ParserConfig:
        """The settings of the network and of its training."""
        return self._model.config

    @property
    def engine(self) -> str:
        """The engine that parses: ``"numpy"``, or ``"native"`` with instruction set and precision in brackets."""
        return str(self._engine)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations it can predict, the most frequent first and the root's last."""
        vocabulary = self._model.vocabulary
        others = (relation for relation in vocabulary.plain_relations if relation != vocabulary.root_relation)
        return (*others, vocabulary.root_relation)

    @property
    def reads_tags(self) -> tuple[str, ...]:
        """The tags the parser itself reads, given or predicted: ``("upos",)``, ``("upos", "xpos")``, ... or ``()``."""
        return tuple(self._model.vocabulary.tags)

    @property
    def needs_tags(self) -> tuple[str, ...]:
        """The tags that must be given, because no tagger predicts them: ``("upos",)``, ..., or none: ``()``."""
        given = self.tagger.kinds if self.tagger is not None else ()
        return tuple(kind for kind in self.reads_tags if kind not in given)

    def parse(
        self,
        sentences: Iterable[SentenceLike],
        *,
        batch_size: int = BATCH_SIZE,
        threads: int = 1,
        constraints: GivenConstraints | None = None,
        beam: int = 1,
        n_best: int = 1,
    ) -> list[Parse]:
        """Parse sentences and return their parses, in order.

        A sentence is a list of words, of (word, tag) pairs, of (word, upos, xpos) triples, or a :class:`Sentence`;
        kinds may be mixed. The tag of a pair is UPOS, or XPOS if the parser reads nothing else. ``batch_size``
        sentences are parsed at once; more are faster. ``threads`` batches are parsed at the same time; the results do
        not depend on their number. ``constraints`` restrict the trees: a :class:`Constraints` or None for each
        sentence, or a function that returns it for a sentence (such as ``constraints_of``, which reads MISC).

        ``beam`` hypotheses are followed at the same time, and the ``n_best`` best trees of a sentence are returned, as
        :attr:`Parse.n_best` with their scores and probabilities. A beam of 1 is the greedy parser.

        Raise an :class:`easyfirst.errors.InputError` that names the sentence that cannot be parsed, or an
        :class:`easyfirst.errors.ConstraintError` that names constraints that are unsatisfiable.
        """
        check_sentences(sentences)
        check_batch_size(batch_size)
        check_threads(threads)
        check_beam(beam, n_best, constraints)
        prepared = list(self.prepare(sentences, constraints))
        parses = self.parse_prepared(prepared, batch_size=batch_size, threads=threads, beam=beam, n_best=n_best)
        return list(watch_parses(parses, self.language))

    def pipe(
        self,
        sentences: Iterable[SentenceLike],
        *,
        batch_size: int = BATCH_SIZE,
        threads: int = 1,
        constraints: GivenConstraints | None = None,
        beam: int = 1,
        n_best: int = 1,
    ) -> Iterator[Parse]:
        """Parse a stream of sentences of any length, and yield the parses in order.

        It reads a chunk of 8 batches ahead (``8 * batch_size`` sentences, or 49,152 words), so memory stays bounded,
        and the first parse comes when that many sentences have been read or the input ends. With ``batch_size=1`` it
        does not read ahead: each parse is yielded before the next sentence is read.

        ``threads`` batches are parsed at the same time, and for every 8 threads begun one more chunk is read ahead. The
        results do not depend on the number of threads. With ``batch_size=1`` there is one thread. ``sentences`` and
        ``constraints`` (as for :meth:`parse`) are only used in the thread of the caller. ``beam`` and ``n_best`` as for
        :meth:`parse`.
        """
        check_sentences(sentences)
        check_batch_size(batch_size)
        check_threads(threads)
        check_beam(beam, n_best, constraints)
        prepared, parse = self.prepare(sentences, constraints), self._parsing(batch_size, beam, n_best)
        return watch_parses(parse_stream(prepared, parse, batch_size=batch_size, threads=threads), self.language)

    def read(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = BATCH_SIZE,
        threads: int = 1,
        one_sentence: bool = False,
        constraints: ConstraintsOf | None = None,
        beam: int = 1,
        n_best: int = 1,
    ) -> Iterator[Document]:
        """Parse a stream of texts of any length, and yield a document for each.

        It reads a chunk of some 100,000 characters ahead, or nothing with ``batch_size=1``. ``threads`` as for
        :meth:`pipe`, except that for every 8 threads begun two more chunks are read ahead; a long text is tokenized by
        one thread. With ``one_sentence`` each text is one sentence and is not split. ``constraints`` is a function that
        returns the constraints on a sentence of a text, or None. It is called in the thread of the caller. ``beam`` and
        ``n_best`` as for :meth:`parse`.
        """
        check_texts(texts)
        check_batch_size(batch_size)
        check_threads(threads)
        check_beam(beam, n_best, constraints)
        self.require_tokenizer()
        return read_stream(
            texts_only(texts),
            partial(self.tokenize, one_sentence=one_sentence),
            partial(prepare_from_text, constraints=constraints, vocabulary=self._model.vocabulary),
            self._parsing(batch_size, beam, n_best),
            batch_size=batch_size,
            language=self.language,
            threads=threads,
        )

    def tokenize(self, texts: Iterable[str], *, one_sentence: bool = False) -> list[TokenizedText]:
        """Split texts into sentences and tokens; with ``one_sentence`` each text is one sentence."""
        return self.require_tokenizer().tokenize_texts(list(texts), one_sentence=one_sentence)

    def prepare(
        self, sentences: Iterable[SentenceLike], constraints: GivenConstraints | None = None
    ) -> Iterator[Prepared]:
        """Check sentences one by one, and compile the constraints on them."""
        reads, needs, vocabulary = self.reads_tags, self.needs_tags, self._model.vocabulary
        made = (to_sentence(item, number, reads=reads, needs=needs) for number, item in enumerate(sentences, 1))
        for number, (sentence, known) in enumerate(constrained(made, constraints), 1):
            name = f"sentence {number}"
            check_tags(sentence, needs, vocabulary, name=name)
            yield Prepared(sentence, known, compile_constraints(sentence, known, vocabulary, name=name))

    def parse_prepared(
        self,
        prepared: Sequence[Prepared],
        *,
        batch_size: int = BATCH_SIZE,
        threads: int = 1,
        beam: int = 1,
        n_best: int = 1,
    ) -> list[Parse]:
        """Parse sentences that need no more checks: they were prepared, or found in a text by :meth:`tokenize`."""
        with Workers(threads) as workers:
            parse = self._parsing(batch_size, beam, n_best)
            return parse_batches(workers, prepared, parse, batch_size=batch_size)()

    def require_tokenizer(self) -> Tokenizer:
        """Return the tokenizer; raise an :class:`InputError` if the model cannot read raw text."""
        return check_reads_text(self.tokenizer, self.needs_tags)

    def explain(
        self, sentence: SentenceLike | str, *, runners_up: int = RUNNERS_UP, constraints: Constraints | None = None
    ) -> Explanation:
        """Explain how a sentence is parsed, step by step: the pending list, the chosen action, the best action that
        would have changed the arc, and the best ``runners_up`` of all other actions.

        A sentence is what :meth:`parse` takes, or a text that is one sentence.
        """
        if runners_up < 0:
            raise InputError(f"runners_up is {runners_up}; it must be 0 or more")
        if isinstance(sentence, str):
            [tokenized] = self.tokenize([sentence], one_sentence=True)
            if not tokenized.tokens:
                raise InputError("the text has no words to explain")
            sentence = tokenized.sentences()[0]
        [prepared] = self.prepare([sentence], one_of(constraints))
        self.language.warn(self.language.count([prepared.sentence]))
        return self.explain_prepared(prepared, runners_up=runners_up)

    def explain_prepared(self, prepared: Prepared, *, runners_up: int = RUNNERS_UP) -> Explanation:
        """Explain a sentence that needs no more checks, as for :meth:`parse_prepared`."""
        return self._decoder.explain(prepared, self.tagger, runners_up=runners_up)

    def save(self, path: str | PathLike[str], *, bits: int = 32) -> None:
        """Write the model to a directory, from which :func:`load` restores it.

        A model that is there is replaced at once, with all its parts. ``bits`` of a weight: 32, 16 or 8; with fewer the
        model is smaller, and its parses hardly change.
        """
        tokenizer = None if self.tokenizer is None else self.tokenizer.model
        tagger = None if self.tagger is None else self.tagger.model
        save_model(Path(path), self._model, tokenizer, tagger, bits=bits)

    def _parsing(self, batch_size: int, beam: int, n_best: int) -> ParseBatch:
        """Return the function that parses a batch."""
        return partial(self._decoder.parse, tagger=self.tagger, batch_size=batch_size, beam=Beam(beam, n_best))
