"""Parses and documents as tables of pandas and Arrow, and as graphs of NLTK."""

from __future__ import annotations

from functools import cache

import pytest

from easyfirst.errors import InputError
from easyfirst.parser import Parser, load
from easyfirst.results.documents import Document
from easyfirst.treebank.sentence import Sentence

TEXT = "The fox doesn't\n like   apples.\n\nIf you do not they will start to rot!"


@cache
def nlp() -> Parser:
    return load("en")


@cache
def document() -> Document:
    return nlp()(TEXT)


class TestPandas:
    """One row for each word, or for each sentence."""

    def test_words(self) -> None:
        pytest.importorskip("pandas")
        frame = document().to_pandas(name="d")
        assert list(frame["form"]) == [form for parse in document() for form in parse.tagged.forms]
        assert list(frame["head"]) == [head for parse in document() for head in parse.heads]
        assert list(frame["deprel"]) == [relation for parse in document() for relation in parse.relations]
        assert list(frame["upos"]) == [tag for parse in document() for tag in parse.tagged.upos]
        assert set(frame["doc_id"]) == {"d"}
        assert list(frame.drop_duplicates("sentence")["sent_id"]) == ["d-1", "d-2"]
        arcs = [arc for parse in document() for arc in parse.confidence.arcs]  # type: ignore[union-attr]
        assert frame["confidence"].tolist() == pytest.approx(arcs, abs=1e-4)
        in_text = [TEXT[start:end] for start, end in zip(frame["start"], frame["end"], strict=True)]
        assert in_text[:5] == ["The", "fox", "doesn't", "doesn't", "like"]
        assert frame.groupby("sentence").size().to_dict() == {1: 7, 2: 10}

    def test_types_do_not_depend_on_the_values(self) -> None:
        """Frames can be concatenated."""
        pd = pytest.importorskip("pandas")
        [plain] = nlp().parse([["Yes"]])
        frames = [document().to_pandas(), plain.to_pandas(), nlp()("").to_pandas()]
        assert all((frame.dtypes == frames[0].dtypes).all() for frame in frames)
        assert len(pd.concat(frames)) == 18
        assert frames[1]["start"].isna().all()

    def test_sentences(self) -> None:
        pytest.importorskip("pandas")
        frame = document().to_pandas(per="sentence", name="d")
        assert list(frame["form"]) == [list(parse.tagged.forms) for parse in document()]
        assert list(frame["text"]) == ["The fox doesn't\n like   apples.", "If you do not they will start to rot!"]
        assert frame["multiword"][0] == [{"first": 3, "last": 4, "form": "doesn't", "misc": None}]
        assert len(frame.explode(["form", "upos", "head", "confidence"])) == 17


class TestArrow:
    """The same in Arrow."""

    def test_words(self) -> None:
        pytest.importorskip("pyarrow")
        table = document().to_arrow()
        assert table.num_rows == 17
        assert table.column("form").to_pylist() == [form for parse in document() for form in parse.tagged.forms]
        assert document()[0].to_arrow().schema == table.schema

    def test_both_ways_to_pandas_agree(self) -> None:
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame, table = document().to_pandas(name="d"), document().to_arrow(name="d")
        assert frame.columns.tolist() == table.column_names
        for name in frame.columns:
            values = [None if value is None or value != value else value for value in frame[name].astype("object")]
            assert [value if value == value else None for value in values] == table.column(name).to_pylist(), name

    def test_sentences(self) -> None:
        pytest.importorskip("pyarrow")
        table = document().to_arrow(per="sentence")
        assert table.num_rows == 2
        assert table.column("comments").to_pylist() == [["# newdoc", "# text"], ["# newpar", "# text"]]
        assert nlp()("").to_arrow(per="sentence").schema == table.schema
        [parse] = nlp().parse([Sentence.from_words(["Yes"])])
        assert parse.to_arrow(per="sentence").to_pylist()[0]["upos"] == ["INTJ"]

    def test_wrong_arguments(self) -> None:
        with pytest.raises(InputError, match="per is 'token'; a row is for each 'word' or for each 'sentence'"):
            document().to_arrow(per="token")  # type: ignore[arg-type]


class TestNltk:
    """Graphs of NLTK have the same arcs."""

    def test_graphs(self) -> None:
        pytest.importorskip("nltk")
        for parse, graph in zip(document(), document().to_nltk(), strict=True):
            nodes = [graph.nodes[m] for m in range(1, len(parse) + 1)]
            assert [node["word"] for node in nodes] == list(parse.tagged.forms)
            assert [node["head"] for node in nodes] == list(parse.heads)
            assert [node["rel"] for node in nodes] == list(parse.relations)
            assert graph.root["address"] == parse.tree.root
            assert len(list(graph.triples())) == len(parse) - 1
            assert not graph.contains_cycle()

    def test_odd_words(self) -> None:
        pytest.importorskip("nltk")
        [parse] = nlp().parse([["a b", "\u00a0", "_", "#1"]])
        assert [parse.to_nltk().nodes[m]["word"] for m in range(1, 5)] == ["a b", "\u00a0", "_", "#1"]

    def test_a_single_word(self) -> None:
        pytest.importorskip("nltk")
        assert nlp()("Yes")[0].to_nltk().root["word"] == "Yes"
