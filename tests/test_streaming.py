"""Several threads give what one thread gives: the same results in the same order, and the same errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import count, islice
from threading import Barrier, get_ident
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst import streaming
from easyfirst.constraints.records import Constraints
from easyfirst.errors import InputError
from easyfirst.parser import Parser
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.results.parses import Parse
from easyfirst.streaming import N_BUFFERED
from easyfirst.treebank.sentence import Sentence
from tests.patience import PATIENCE
from tests.small_models import small_model, small_tagger, small_tokenizer

ARRAYS = ("heads", "modifiers", "scores", "margins", "label_margins", "lost_margins")
lengths = st.lists(st.integers(1, 12), max_size=60)
threads = st.integers(1, 10)


@pytest.fixture(scope="module")
def nlp() -> Parser:
    return Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())


def sentences_of(lengths: Sequence[int]) -> list[list[str]]:
    return [[f"w{(number + i) % 7}" for i in range(length)] for number, length in enumerate(lengths)]


def exactly(parse: Parse) -> tuple[object, ...]:
    """Return all of a parse, with the bytes of its scores."""
    arrays = (getattr(parse.steps, name).tobytes() for name in ARRAYS)
    return parse.sentence, parse.tagged, parse.heads, parse.relations, parse.constraints, *arrays


def workers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("easyfirst")]


class TestTheSame:
    @settings(max_examples=40)
    @given(lengths, st.integers(1, 6), threads, st.sets(st.integers(0, 59)))
    def test_sentences(
        self, nlp: Parser, lengths: list[int], batch_size: int, threads: int, constrained: set[int]
    ) -> None:
        sentences = sentences_of(lengths)
        known = [Constraints.of(heads={1: 0}) if number in constrained else None for number in range(len(lengths))]
        once = list(nlp.pipe(sentences, batch_size=batch_size, constraints=known))
        again = list(nlp.pipe(sentences, batch_size=batch_size, threads=threads, constraints=known))
        assert list(map(exactly, again)) == list(map(exactly, once))
        assert [parse.sentence.forms for parse in again] == list(map(tuple, sentences))
        whole = [nlp.parse(sentences, batch_size=batch_size, threads=n, constraints=known) for n in (1, threads)]
        assert list(map(exactly, whole[1])) == list(map(exactly, whole[0]))
        assert whole[0] == once

    @settings(max_examples=40)
    @given(
        st.lists(st.text(st.sampled_from("Fox jum'.\n "), max_size=40), max_size=20),
        st.integers(1, 4),
        threads,
        st.integers(1, 60),
        st.integers(1, 60),
        st.booleans(),
    )
    def test_texts(
        self, nlp: Parser, texts: list[str], batch_size: int, threads: int, chunk: int, part: int, one_sentence: bool
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(streaming, "TEXT_BUFFERED", chunk)
            patch.setattr(streaming, "TOKENIZED_AT_ONCE", part)
            once, again = (
                list(nlp.read(texts, batch_size=batch_size, threads=n, one_sentence=one_sentence)) for n in (1, threads)
            )
        assert [document.text for document in again] == texts
        assert again == once
        for left, right in zip(once, again, strict=True):
            assert list(map(exactly, left)) == list(map(exactly, right))

    def test_a_single_text(self, nlp: Parser) -> None:
        text = "The fox jumps. It likes apples.\n\n" * 400
        assert nlp(text, threads=3).to_dict() == nlp(text).to_dict()


class TestLaziness:
    @pytest.mark.parametrize(("threads", "n_chunks"), [(1, 1), (2, 2), (8, 2), (9, 3)])
    def test_sentences(self, nlp: Parser, threads: int, n_chunks: int) -> None:
        read: list[int] = []
        stream = nlp.pipe(([str(n)] for n in count() if not read.append(n)), batch_size=2, threads=threads)
        assert not read
        size = 2 * N_BUFFERED
        for number, parse in enumerate(islice(stream, 100)):
            assert parse.sentence.forms == (str(number),)
            assert len(read) == (number // size + n_chunks) * size

    @pytest.mark.parametrize(("threads", "n_chunks"), [(1, 1), (2, 3), (8, 3), (9, 5)])
    def test_texts(self, nlp: Parser, threads: int, n_chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(streaming, "TEXT_BUFFERED", 12)
        read: list[int] = []
        stream = nlp.read(("Fox." for n in count() if not read.append(n)), threads=threads)
        assert not read
        for number, document in enumerate(islice(stream, 20)):
            assert document.text == "Fox."
            assert len(read) == (number // 3 + n_chunks) * 3

    def test_one_by_one(self, nlp: Parser) -> None:
        for threads in (1, 4):
            read: list[int] = []
            for number, _ in enumerate(
                nlp.pipe((["x"] for n in range(9) if not read.append(n)), batch_size=1, threads=threads)
            ):
                assert len(read) == number + 1
                assert not workers()
            read = []
            for number, _ in enumerate(
                nlp.read(("x" for n in range(9) if not read.append(n)), batch_size=1, threads=threads)
            ):
                assert len(read) == number + 1
                assert not workers()


class TestThreads:
    @pytest.mark.parametrize("threads", [1, 3])
    def test_what_the_user_gives_is_used_in_his_thread_only(
        self, nlp: Parser, threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(streaming, "TEXT_BUFFERED", 12)
        used: set[int] = set()

        def known(sentence: Sentence) -> Constraints | None:
            used.add(get_ident())
            return None if len(sentence) % 2 else Constraints.of(heads={1: 0})

        def stream(item: Any) -> Iterator[Any]:
            for _ in range(50):
                used.add(get_ident())
                yield item

        assert len(list(nlp.pipe(stream(["A", "fox"]), batch_size=2, threads=threads, constraints=known))) == 50
        assert len(list(nlp.read(stream("A fox."), batch_size=2, threads=threads, constraints=known))) == 50
        assert len(nlp.parse(stream(["A", "fox"]), batch_size=2, threads=threads, constraints=known)) == 50
        assert used == {get_ident()}

    def test_batches_are_parsed_at_the_same_time(self, nlp: Parser) -> None:
        meeting = Barrier(2, timeout=PATIENCE)

        class Meeting(_Wrapped):
            def derive(self, sentences: Sequence[Sentence], *, batch_size: int = 256) -> list[Derivation]:
                meeting.wait()
                return super().derive(sentences, batch_size=batch_size)

        parser = Parser(nlp.model, tokenizer=nlp.tokenizer, tagger=nlp.tagger, engine=Meeting(nlp))
        assert len(list(parser.pipe([["a"]] * 8, batch_size=2, threads=2))) == 8
        assert len(parser.parse([["a"]] * 8, batch_size=2, threads=2)) == 8
        [document] = parser.read(["Fox\n\n" * 8], batch_size=2, threads=2)
        assert len(document) == 8

    def test_a_stream_of_a_stream(self, nlp: Parser) -> None:
        sentences = sentences_of([1, 5, 3, 2] * 20)
        first = nlp.pipe(sentences, batch_size=2, threads=2)
        second = nlp.pipe((parse.sentence for parse in first), batch_size=3, threads=3)
        assert [parse.sentence.forms for parse in second] == list(map(tuple, sentences))
        assert not workers()


class TestTheEnd:
    @pytest.mark.parametrize("n_read", [0, 1, 40])
    def test_an_abandoned_stream(self, nlp: Parser, n_read: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(streaming, "TEXT_BUFFERED", 12)
        for stream in (
            nlp.pipe((["x"] for _ in count()), batch_size=2, threads=3),
            nlp.read(("Fox." for _ in count()), batch_size=2, threads=3),
        ):
            assert len(list(islice(stream, n_read))) == n_read
            assert bool(workers()) == bool(n_read)
            stream.close()  # type: ignore[attr-defined]
            assert not workers()

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_an_error_of_the_consumer(self, nlp: Parser, error: type[BaseException]) -> None:
        def consume() -> None:
            for _ in nlp.pipe((["x"] for _ in count()), batch_size=2, threads=3):
                raise error

        with pytest.raises(error) as raised:
            consume()
        del raised  # its traceback holds the stream
        assert not workers()


class TestErrors:
    @pytest.mark.parametrize("threads", [1, 2, 9])
    @pytest.mark.parametrize(("n_good", "n_found"), [(0, 0), (5, 0), (16, 16), (100, 96)])
    def test_in_the_input(self, nlp: Parser, threads: int, n_good: int, n_found: int) -> None:
        found: list[Parse] = []
        with pytest.raises(InputError, match=f"sentence {n_good + 1} has no words"):
            found.extend(nlp.pipe([["x"]] * n_good + [[]], batch_size=2, threads=threads))
        assert len(found) == n_found

    @pytest.mark.parametrize("threads", [1, 2, 9])
    def test_in_a_text(self, nlp: Parser, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(streaming, "TEXT_BUFFERED", 12)
        for wrong, message in ((3, "text 31 is of type int"), ("a \ud800", "not valid Unicode")):
            found: list[object] = []
            texts: list[Any] = ["Fox."] * 30 + [wrong]
            with pytest.raises(InputError, match=message):
                found.extend(nlp.read(texts, threads=threads))
            assert len(found) == 30

    @pytest.mark.parametrize("threads", [1, 2, 9])
    def test_in_a_function_of_the_user(self, nlp: Parser, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(streaming, "TEXT_BUFFERED", 12)
        found: list[object] = []
        numbers = count()
        with pytest.raises(LookupError, match="13"):
            found.extend(nlp.read(["Fox."] * 30, threads=threads, constraints=lambda _: _none_before(numbers, 13)))
        assert len(found) == 12

    @pytest.mark.parametrize("threads", [1, 2, 9])
    def test_in_the_engine(self, nlp: Parser, threads: int) -> None:
        class Failing(_Wrapped):
            def derive(self, sentences: Sequence[Sentence], *, batch_size: int = 256) -> list[Derivation]:
                if any("bad" in sentence.forms for sentence in sentences):
                    raise ArithmeticError("bad")
                return super().derive(sentences, batch_size=batch_size)

        parser = Parser(nlp.model, tagger=nlp.tagger, engine=Failing(nlp))
        found: list[Parse] = []
        with pytest.raises(ArithmeticError, match="bad"):
            found.extend(parser.pipe([["x"]] * 40 + [["bad"]] + [["x"]] * 100, batch_size=2, threads=threads))
        assert len(found) == 32

    @pytest.mark.parametrize(
        ("threads", "message"),
        [
            (0, "threads is 0; it must be at least 1"),
            (-2, "threads is -2; it must be at least 1"),
            (1.5, "threads is of type float; it must be an integer of at least 1"),
            (True, "threads is of type bool"),
            ("2", "threads is of type str"),
            (None, "threads is of type NoneType"),
        ],
    )
    def test_the_number_of_threads(self, nlp: Parser, threads: Any, message: str) -> None:
        for call in (nlp.parse, nlp.pipe, nlp.read):
            with pytest.raises(InputError, match=message):
                call([], threads=threads)  # type: ignore[operator]
        with pytest.raises(InputError, match=message):
            nlp("Fox.", threads=threads)


class _Wrapped:
    """The engine of a parser, for tests to override."""

    def __init__(self, parser: Parser) -> None:
        model = parser.model
        self._engine = NumpyEngine.of(model.arrays, model.config, model.vocabulary)

    def derive(self, sentences: Sequence[Sentence], *, batch_size: int = 256) -> list[Derivation]:
        return self._engine.derive(sentences, batch_size=batch_size)


def _none_before(numbers: Iterator[int], limit: int) -> None:
    if (number := next(numbers)) == limit:
        raise LookupError(number)
