"""The facade: what it takes, what it refuses and how it says so, and that it streams."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easyfirst
from easyfirst.errors import DataError, InputError, ModelError
from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import ParserModel, initial_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.parser import Parser, load
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine import MAX_BATCH_WORDS, NumpyEngine
from easyfirst.streaming import N_BUFFERED
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import find_cycle
from tests.small_models import small_model, small_tagger

DATA = Path(__file__).parent / "data"
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}


def small_parser(tags: str) -> Parser:
    config = preset("paper", network={**SMALL, "tags": tags})
    vocabulary = ParserVocabulary.of(read_conllu(DATA / "multiword.conllu"), tag_kinds=config.network.tag_kinds)
    arrays = initial_parser(config.network, sizes_of(vocabulary, None), np.random.default_rng(5))
    return Parser(ParserModel(config, vocabulary, arrays, "# a card\n"))


@pytest.fixture(scope="module")
def parser() -> Parser:
    return small_parser("none")


@pytest.fixture(scope="module")
def upos_parser() -> Parser:
    return small_parser("upos")


class TestInput:
    def test_lists_of_words(self, parser: Parser) -> None:
        parses = parser.parse([["The", "fox", "jumps"], ("Yes",), iter(["a", "b"])])
        assert [parse.sentence.forms for parse in parses] == [("The", "fox", "jumps"), ("Yes",), ("a", "b")]

    @pytest.mark.parametrize(("tags", "column"), [("upos", "upos"), ("xpos", "xpos"), ("none", "upos")])
    def test_pairs_go_to_the_column_the_model_needs(self, tags: str, column: str) -> None:
        [parse] = small_parser(tags).parse([[("The", "DET"), ("fox", "NOUN")]])
        columns = {"upos": parse.sentence.upos, "xpos": parse.sentence.xpos}
        assert columns.pop(column) == ("DET", "NOUN")
        assert list(columns.values()) == [("_", "_")]

    @pytest.mark.parametrize("tags", ["none", "upos", "xpos", "both"])
    def test_triples(self, tags: str) -> None:
        [parse] = small_parser(tags).parse([[("The", "DET", "DT"), ("fox", "NOUN", None)]])
        assert (parse.sentence.upos, parse.sentence.xpos) == (("DET", "NOUN"), ("DT", "_"))

    def test_all_kinds_mixed(self, upos_parser: Parser) -> None:
        sentence = next(read_conllu(DATA / "multiword.conllu"))
        parses = upos_parser.parse([sentence, [("a", "DET")], [["b", "NOUN"]], [("c", "X", "Y")]])
        assert [len(parse) for parse in parses] == [6, 1, 1, 1]
        assert parses[0].sentence is sentence

    def test_tags_matter(self, upos_parser: Parser) -> None:
        words = ["Do", "n't", "salt", "the", "soup", ".", "rice"]
        one, other = upos_parser.parse([[(word, tag) for word in words] for tag in ("NOUN", "PUNCT")])
        assert one.derivation != other.derivation

    def test_nothing(self, parser: Parser) -> None:
        assert parser.parse([]) == []
        assert list(parser.pipe([])) == []

    @pytest.mark.parametrize(
        ("sentences", "message"),
        [
            ("The fox jumps", r"the text 'The fox jumps'; split it into words"),
            (b"The fox", r"the text b'The fox'"),
            ("x" * 100, r"xxx'\.\.\.; split"),
            (["The", "fox"], r"sentence 1 is the text 'The'; give each sentence as a list of words"),
            ([["a"], "The fox"], r"sentence 2 is the text 'The fox'"),
            ([["a"], []], r"sentence 2 has no words"),
            ([["a"], 3], r"sentence 2 is of type int"),
            (None, r"the input is of type NoneType"),
            ([["a", ""]], r"sentence 1: word 2 has an empty form"),
            ([["a\tb"]], r"sentence 1: 'a\\tb' has a tab"),
            ([["a"], ["a", 3]], r"sentence 2: word 2 is 3; give words as texts or all"),
            ([[("a", "X"), "b"]], r"sentence 1: word 2 is 'b'"),
            ([[("a", "X"), ("b", "X", "Y")]], r"sentence 1: word 2 is \('b', 'X', 'Y'\).*all alike"),
            ([[("a",)]], r"sentence 1: word 1 is \('a',\)"),
            ([[("a", 3)]], r"sentence 1: word 1 is \('a', 3\)"),
            ([[()]], r"sentence 1: word 1 is \(\)"),
            (Sentence.from_words(["a"]), r"one Sentence; give a list"),
        ],
    )
    def test_mistakes_are_explained(self, parser: Parser, sentences: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            parser.parse(sentences)
        with pytest.raises(InputError, match=message):
            list(parser.pipe(sentences))

    def test_pipe_refuses_a_text_at_once(self, parser: Parser) -> None:
        with pytest.raises(InputError, match="split it into words"):
            parser.pipe("The fox")

    @pytest.mark.parametrize("batch_size", [0, -1])
    def test_batch_size(self, parser: Parser, batch_size: int) -> None:
        with pytest.raises(InputError, match="batch_size"):
            parser.parse([["a"]], batch_size=batch_size)


class TestTags:
    def test_missing(self, upos_parser: Parser) -> None:
        with pytest.raises(InputError, match=r"needs UPOS tags and sentence 2 has none.*'b'.*\(word, tag\) pairs"):
            upos_parser.parse([[("a", "X")], ["b", "c"]])

    def test_missing_in_a_file(self) -> None:
        with pytest.raises(DataError, match=r"scripts\.conllu:3: the model needs XPOS tags and sentence 1 has none"):
            small_parser("xpos").parse(read_conllu(DATA / "scripts.conllu"))

    def test_one_of_two_missing(self) -> None:
        with pytest.raises(InputError, match="one tag a word and the model needs two"):
            small_parser("both").parse([[("a", "X")]])

    def test_a_flat_list_of_pairs(self, upos_parser: Parser) -> None:
        with pytest.raises(InputError, match=r"\('The', 'DET'\).*put the words of a sentence into a list"):
            upos_parser.parse([("The", "DET"), ("fox", "NOUN")])


class TestPipe:
    def test_an_endless_input(self, parser: Parser) -> None:
        n_read = 0

        def endless() -> Iterator[list[str]]:
            nonlocal n_read
            for n in count():
                n_read += 1
                yield [f"word{i}" for i in range(1 + n % 7)]

        parses = parser.pipe(endless(), batch_size=4)
        assert n_read == 0
        assert [len(parse) for parse in islice(parses, 100)] == [1 + n % 7 for n in range(100)]
        assert n_read <= 100 + 4 * N_BUFFERED

    def test_one_at_a_time(self, parser: Parser) -> None:
        asked: list[int] = []
        sentences = ([str(n), "x"] for n in range(5) if not asked.append(n))
        for number, parse in enumerate(parser.pipe(sentences, batch_size=1)):
            assert parse.sentence.forms[0] == str(number)
            assert len(asked) == number + 1

    def test_long_sentences_fill_the_buffer_sooner(self, parser: Parser) -> None:
        asked: list[int] = []
        length = MAX_BATCH_WORDS * N_BUFFERED // 2
        forms = tuple(["x"] * length)
        sentence = Sentence.from_words(forms)
        stream = (sentence for n in range(100) if not asked.append(n))
        next(Parser(parser.model, engine=_Idle()).pipe(stream))
        assert len(asked) == 2

    def test_the_same_as_parse(self, parser: Parser) -> None:
        sentences = [[f"w{i}" for i in range(1 + n * 5 % 11)] for n in range(50)]
        assert list(parser.pipe(sentences, batch_size=3)) == parser.parse(sentences)


def test_any_engine_will_do(parser: Parser) -> None:
    idle, model = Parser(parser.model, engine=_Idle()), parser.model
    reference = Parser(model, engine=NumpyEngine.of(model.arrays, model.config, model.vocabulary))
    assert idle.parse([["The", "fox", "jumps"]])[0].heads == (0,)
    known = easyfirst.Constraints.of(heads={1: 0})
    assert idle.parse([["The", "fox"]], constraints=[known]) == parser.parse([["The", "fox"]], constraints=[known])
    assert idle.explain(["The", "fox"]) == reference.explain(["The", "fox"])


def test_a_parser_can_be_sent_to_another_process(parser: Parser) -> None:
    again: Parser = pickle.loads(pickle.dumps(parser))
    assert again.parse([["The", "fox", "jumps"]]) == parser.parse([["The", "fox", "jumps"]])


class _Idle:
    """An engine that parses nothing."""

    def derive(self, sentences: Sequence[Sentence], **_: Any) -> list[Derivation]:
        ids, zeros = np.ones(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        return [Derivation(ids, ids, (), "root", *[zeros] * 3)] * len(sentences)


words = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(words, min_size=1, max_size=12), max_size=6))
def test_every_output_is_a_tree_with_one_root(parser: Parser, sentences: list[list[str]]) -> None:
    for forms, parse in zip(sentences, parser.parse(sentences), strict=True):
        assert parse.sentence.forms == tuple(forms)
        assert parse.heads.count(0) == 1
        assert not find_cycle(parse.heads)
        assert set(parse.relations) <= set(parser.relations)


def test_parses_are_scored_like_the_sentences_they_become(upos_parser: Parser) -> None:
    gold = list(read_conllu(DATA / "multiword.conllu"))
    parses = upos_parser.parse(gold)
    right = sum(
        h == g for parse, each in zip(parses, gold, strict=True) for h, g in zip(parse.heads, each.heads, strict=True)
    )
    scores = easyfirst.score(gold, parses)
    assert scores.full.heads == right < scores.full.words
    assert scores == easyfirst.score(gold, [parse.to_sentence() for parse in parses])
    assert [parse.to_sentence().to_bytes() for parse in parses] == [parse.to_bytes() for parse in parses]


def test_predicted_tags_of_parses_are_scored() -> None:
    """A sentence from a file keeps its columns in ``parsed``, but the tags it was parsed with are scored."""
    tagger = small_tagger()
    gold = list(read_conllu(DATA / "multiword.conllu"))
    parses = Parser(small_model("both"), tagger=tagger).parse(map(tagger.untagged, gold))
    found = easyfirst.score(gold, parses).conll18
    assert found is not None
    right, tags = ([tag for sentence in side for tag in sentence.upos] for side in (gold, [p.tagged for p in parses]))
    assert found.columns["UPOS"] == "scored"
    assert found.upos.correct == sum(tag == predicted for tag, predicted in zip(right, tags, strict=True))


def test_only_sentences_and_parses_are_scored(upos_parser: Parser) -> None:
    gold = list(read_conllu(DATA / "multiword.conllu"))
    for wrong in ([["a", "list"]], [None]):
        with pytest.raises(InputError, match="only sentences and parses can be scored, not "):
            easyfirst.score(gold, wrong)  # type: ignore[arg-type]


def test_models_to_combine_are_named_one_by_one() -> None:
    with pytest.raises(InputError, match=r"of type list; give names one by one"):
        easyfirst.combine(["one", "two"])  # type: ignore[arg-type]


def test_scripts_and_spaces(upos_parser: Parser) -> None:
    sentences = list(read_conllu(DATA / "scripts.conllu"))
    for sentence, parse in zip(sentences, upos_parser.parse(sentences), strict=True):
        assert parse.to_conllu().count("\n") == sentence.to_bytes().count(b"\n")
        assert [word.form for word in parse.words] == list(sentence.forms)


def test_a_very_long_sentence(parser: Parser) -> None:
    [parse] = parser.parse([["word", "and"] * 1000])
    assert parse.heads.count(0) == 1
    assert len(parse.derivation) == 1999


def test_threads_may_share_a_parser(parser: Parser) -> None:
    sentences = [[f"w{i}" for i in range(1 + n % 9)] for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(parser.parse, [sentences] * 8))
    assert all(result == results[0] for result in results)


def test_save_and_load(upos_parser: Parser, tmp_path: Path) -> None:
    upos_parser.save(tmp_path / "model")
    again = load(tmp_path / "model")
    sentences = list(read_conllu(DATA / "multiword.conllu"))
    assert again.parse(sentences) == upos_parser.parse(sentences)
    assert again.config == upos_parser.config
    assert again.model.card == "# a card\n"


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model"):
        easyfirst.load(tmp_path / "nothing")


def test_what_it_says_of_itself(parser: Parser, upos_parser: Parser) -> None:
    assert parser.needs_tags == ()
    assert upos_parser.needs_tags == ("upos",)
    assert parser.config.preset == "paper"
    assert parser.relations[-1] == "root"
    assert len(set(parser.relations)) == len(parser.relations)
    assert repr(upos_parser) == f"<Parser: preset paper, UPOS tags, {len(upos_parser.relations)} relations, 15 words>"
    assert "no tags" in repr(parser)


class TestPackage:
    def test_every_public_name_is_there(self) -> None:
        for name in easyfirst.__all__:
            assert getattr(easyfirst, name) is not None
            assert name in dir(easyfirst)
        assert easyfirst.__version__ == "0.3.0.dev0"
        assert easyfirst.errors.InputError is InputError

    def test_what_a_text_becomes_is_public(self) -> None:
        assert {"Document", "Token"} <= set(easyfirst.__all__)
        assert (easyfirst.Document.__name__, easyfirst.Token.__name__) == ("Document", "Token")

    def test_an_unknown_name(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = easyfirst.nothing

    def test_parsing_imports_neither_torch_nor_the_command_line(self) -> None:
        code = "import sys, easyfirst; easyfirst.Parser; print({'torch', 'typer', 'rich'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "set()"

    def test_the_command_line_can_still_set_threads(self) -> None:
        code = "import sys, easyfirst.cli; print('numpy' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"
