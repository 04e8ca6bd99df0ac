"""What a parse tells: columns, tree, CoNLL-U."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from easyfirst.parser import Parser
from easyfirst.render.html import draw_html
from easyfirst.render.svg import draw_svg
from easyfirst.results.parses import Parse
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.tree import Tree
from tests.parsing.small_parsers import DATA, small_parser, tagged


@pytest.fixture(scope="module")
def parser() -> Parser:
    return small_parser()


class TestParse:
    @pytest.fixture
    def parse(self, parser: Parser) -> Parse:
        return parser.parse(list(read_conllu(DATA / "multiword.conllu")))[0]

    def test_only_heads_and_relations_are_written(self, parse: Parse) -> None:
        before = parse.sentence.to_bytes().decode().split("\n")
        after = parse.to_conllu().split("\n")
        assert parse.to_bytes() == parse.to_conllu().encode()
        for old, new in zip(before, after, strict=True):
            old_cells, new_cells = old.split("\t"), new.split("\t")
            if old_cells[0].isdigit():
                m = int(old_cells[0])
                old_cells[6:8] = str(parse.heads[m - 1]), parse.relations[m - 1]
            assert old_cells == new_cells

    def test_deps_on_request(self, parse: Parse) -> None:
        rows = [line.split("\t") for line in parse.to_conllu(deps=True).split("\n") if line[:1].isdigit()]
        assert [row[8] for row in rows if row[0].isdigit()] == [
            f"{head}:{relation}" for head, relation in zip(parse.heads, parse.relations, strict=True)
        ]

    def test_tree_and_words(self, parse: Parse) -> None:
        assert parse.tree == Tree(parse.heads, parse.relations)
        assert tuple(word.head_id for word in parse) == parse.heads
        assert tuple(word.relation for word in parse.words) == parse.relations
        assert parse.words[2].lemma == "salt"
        assert len(parse) == 6

    def test_words_have_the_tree_of_the_parse(self, parse: Parse) -> None:
        assert parse.to_sentence().heads == parse.heads
        assert [word.form for word in parse] == list(parse.to_sentence().forms)
        assert parse.root.id == parse.tree.root
        assert (parse.root.head, parse.root.head_id) == (None, 0)
        assert parse.root.subtree == parse.words
        assert parse[-1] == parse.words[5]
        assert parse[0] != parse.sentence[0]

    def test_its_text_is_that_of_the_sentence(self, parse: Parse) -> None:
        assert (parse.text, parse.start, parse.end) == ("Don't salt the soup.", 0, 20)

    def test_pictures(self, parse: Parse) -> None:
        assert parse.to_svg(width=300, theme="dark", show="lemma") == draw_svg(
            parse.drawing(show="lemma"), width=300, theme="dark"
        )
        assert parse.to_html(show="none") == draw_html([parse.drawing(show="none")])

    def test_words_without_a_calibration(self, parse: Parse) -> None:
        assert {(word.arc_confidence, word.label_confidence) for word in parse} == {(None, None)}

    def test_the_sentence_keeps_its_own_tree(self, parse: Parse) -> None:
        assert parse.sentence.heads == (3, 3, 0, 5, 3, 3)

    def test_frozen_and_without_a_dictionary(self, parse: Parse) -> None:
        with pytest.raises(FrozenInstanceError):
            parse.heads = ()  # pyright: ignore[reportAttributeAccessIssue]
        assert not hasattr(parse, "__dict__")
        assert parse in {parse}

    def test_how_it_looks(self, parser: Parser) -> None:
        [parse] = parser.parse([tagged(["the", "zebra"])])
        root = parse.tree.root
        heads, relation = ("(0, 1)", parse.relations[1]) if root == 1 else ("(2, 0)", parse.relations[0])
        relations = ("root", relation) if root == 1 else (relation, "root")
        assert repr(parse) == f"Parse('the zebra', heads={heads}, relations={relations})"
        assert str(parse).split("\n") == [
            f"1 the   {parse.heads[0]} {parse.relations[0]}",
            f"2 zebra {parse.heads[1]} {parse.relations[1]}",
        ]
