"""Sentences made from words, and new column values in sentences that were read."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import InputError
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence

DATA = Path(__file__).parent.parent / "data"


def test_comments_are_kept_and_readable_as_metadata() -> None:
    text = "# newpar\n# text = a = b\n#sent_id=7\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n# late = yes\r\n\n"
    (sentence,) = ConlluReader(io.BytesIO(text.encode()), "x")
    assert sentence.comments == ("# newpar", "# text = a = b", "#sent_id=7", "# late = yes")
    assert sentence.metadata == {"text": "a = b", "sent_id": "7", "late": "yes"}


def test_a_text_is_no_list_of_words() -> None:
    with pytest.raises(InputError, match="forms must be a list of words, not a text"):
        Sentence.from_words("abc")


def test_a_sentence_from_words_is_written_as_conllu() -> None:
    sentence = Sentence.from_words(
        ["The", "fox"], upos=["DET", None], xpos=["DT", "NN"], heads=[2, 0], relations=["det", None]
    )
    assert sentence.to_bytes() == (
        b"1\tThe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n"  # one line per word
        b"2\tfox\t_\t_\tNN\t_\t0\t_\t_\t_\n\n"
    )
    assert (len(sentence), sentence.source, sentence.line, sentence.word_line(1)) == (2, None, None, None)


FORMS = st.lists(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r\0"), min_size=1),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(FORMS, st.data())
def test_a_sentence_from_words_reads_back_as_itself(forms: list[str], data: st.DataObject) -> None:
    n = len(forms)
    heads = data.draw(st.lists(st.none() | st.integers(0, n), min_size=n, max_size=n))
    relations = data.draw(st.lists(st.none() | st.sampled_from(["root", "obl:tmod"]), min_size=n, max_size=n))
    sentence = Sentence.from_words(forms, heads=heads, relations=relations)
    (back,) = ConlluReader(io.BytesIO(sentence.to_bytes()), "x")
    assert back.columns == sentence.columns
    assert (back.heads, back.relations) == (tuple(heads), tuple(relations))
    assert back.to_bytes() == sentence.to_bytes()


def test_a_new_tree_changes_only_head_and_relation() -> None:
    first, _ = read_conllu(DATA / "multiword.conllu")
    heads = (2, 0, 2, 2, 2, 5)
    new = first.with_tree(heads, ("x",) * 6)
    assert (new.heads, new.relations) == (heads, ("x",) * 6)
    old_lines, new_lines = first.to_bytes().split(b"\n"), new.to_bytes().split(b"\n")
    assert len(old_lines) == len(new_lines)
    for old_line, new_line in zip(old_lines, new_lines, strict=True):
        old_cells, new_cells = old_line.split(b"\t"), new_line.split(b"\t")
        if old_cells[0].isdigit():
            assert new_cells[6:8] == [str(heads[int(old_cells[0]) - 1]).encode(), b"x"]
            del old_cells[6:8], new_cells[6:8]
        assert old_cells == new_cells
    assert first.heads == (3, 3, 0, 5, 3, 3)


def test_the_tree_is_copied_to_deps_only_when_asked() -> None:
    _, sentence = read_conllu(DATA / "multiword.conllu")
    assert [word.deps for word in sentence.with_tree(sentence.heads, sentence.relations).words][5] == "6.1:nsubj"
    copied = sentence.with_tree([None, *sentence.heads[1:]], sentence.relations, deps=True)
    assert [word.deps for word in copied.words][:6] == ["_", "0:root", "2:obj", "6:punct", "6:cc", "2:conj"]
    assert b"\t2:conj:and\tCopyOf=2\n" in copied.to_bytes()  # the empty node keeps its own


def test_a_cell_that_keeps_its_value_keeps_its_bytes() -> None:
    raw = b"1\ta\t_\t_\t_\t_\t00\t\t_\t_\n"
    (sentence,) = ConlluReader(io.BytesIO(raw), "x")
    assert (sentence.heads, sentence.relations) == ((0,), (None,))
    assert sentence.with_tree((0,), (None,)).to_bytes() == raw


def test_a_value_taken_away_and_put_back_gets_its_bytes_back() -> None:
    raw = "1\tá\tb\tX\tY\tZ\t00\t\t1:x\tA|A=1\r\n".encode()
    (sentence,) = ConlluReader(io.BytesIO(raw), "x")
    other = sentence.with_tags(upos=["P"], xpos=["_"]).with_tree([None], ["dep"]).with_misc([{"B": "2"}])
    assert other.to_bytes() == "1\tá\tb\tP\t_\tZ\t_\tdep\t1:x\tA|A=1|B=2\r\n".encode()
    back = other.with_tags(upos=["X"], xpos=["Y"]).with_tree([0], [None]).with_misc([{"B": None}])
    assert back == sentence
    assert hash(back) == hash(sentence)
    assert back.to_bytes() == other.original == raw


def test_a_copied_tree_stays_in_deps_when_the_tree_changes_again() -> None:
    sentence = Sentence.from_words(["a", "b"]).with_tree([2, 0], ["det", None], deps=True)
    assert [word.deps for word in sentence.with_tree([0, 1], ["root", "obj"]).words] == ["2:det", "0:_"]


def test_a_sentence_shows_its_words() -> None:
    shown = "Sentence(forms=('a',), upos=('X',), xpos=('_',), heads=(None,), relations=(None,), source=None, line=None)"
    assert repr(Sentence.from_words(["a"], upos=["X"])) == shown


@pytest.mark.parametrize("name", ["multiword", "windows"])
def test_sentences_can_be_pickled_for_worker_processes(name: str) -> None:
    for sentence in [Sentence.from_words(["a"]), *read_conllu(DATA / f"{name}.conllu")]:
        copy = pickle.loads(pickle.dumps(sentence))
        assert copy == sentence
        assert copy.to_bytes() == sentence.to_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forms": []}, "a sentence needs at least one word"),
        ({"forms": ["a", ""]}, "word 2 has an empty form"),
        ({"forms": ["a\tb"]}, r"'a\\tb' has a tab or a line end in it"),
        ({"forms": ["a"], "upos": ["X\n"]}, r"'X\\n' has a tab or a line end in it"),
        ({"forms": ["a"], "xpos": ["X\r"]}, r"'X\\r' has a tab or a line end in it"),
        ({"forms": ["\ud800"]}, r"'\\ud800' is not valid Unicode"),
        ({"forms": ["a"], "upos": []}, "1 forms but 0 upos: give one for each word"),
        ({"forms": ["a"], "heads": [0, 1]}, "1 forms but 2 heads"),
        ({"forms": ["a"], "relations": ["a\tb"]}, "has a tab"),
        ({"forms": ["a"], "heads": [2]}, "word 1 has head 2 in a sentence of 1 word$"),
        ({"forms": ["a"], "heads": [-1]}, "word 1 has head -1 in a sentence of 1 word$"),
    ],
)
def test_words_that_make_no_sentence_are_refused(arguments: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sentence.from_words(**arguments)  # pyright: ignore[reportArgumentType]


def test_a_tree_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="1 head and 2 relations for a sentence of 2 words"):
        Sentence.from_words(["a", "b"]).with_tree([0], ["root", "dep"])


def test_tags_replace_only_their_columns() -> None:
    first, _ = read_conllu(DATA / "multiword.conllu")
    tagged = first.with_tags(upos=["X"] * len(first))
    assert tagged.upos == ("X",) * len(first)
    assert tagged.xpos == first.xpos
    before, after = first.to_bytes().split(b"\n"), tagged.to_bytes().split(b"\n")
    for old, new in zip(before, after, strict=True):
        cells = old.split(b"\t")
        if cells[0].isdigit():
            cells[3] = b"X"
        assert new == b"\t".join(cells)
    assert tagged.with_tags(upos=first.upos, xpos=first.xpos) == first
    assert first.with_tags() == first


def test_tags_that_do_not_fit_are_refused() -> None:
    sentence = Sentence.from_words(["a", "b"])
    with pytest.raises(InputError, match="1 xpos for a sentence of 2 words"):
        sentence.with_tags(xpos=["DT"])
    with pytest.raises(InputError, match="tab or a line end"):
        sentence.with_tags(upos=["A\tB", "C"])


class TestMisc:
    ROW = b"1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t%s\n\n"

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (b"_", b"A=1|B=2"),
            (b"SpaceAfter=No", b"SpaceAfter=No|A=1|B=2"),
            (b"A=9|SpaceAfter=No", b"A=1|SpaceAfter=No|B=2"),
            (b"B=9|x|A=8|A=7|AB=6", b"B=2|x|A=1|AB=6"),
            (b"C=5", b"A=1|B=2"),
            (b"A|a=1", b"A=1|a=1|B=2"),
            (b"_\r", b"A=1|B=2\r"),
            (b"C=5|x=y=z\r", b"x=y=z|A=1|B=2\r"),
        ],
    )
    def test_pairs(self, given: bytes, expected: bytes) -> None:
        [sentence] = ConlluReader(io.BytesIO(self.ROW % given), "x")
        assert sentence.with_misc([{"A": "1", "B": "2", "C": None}]).to_bytes() == self.ROW % expected

    def test_nothing_left(self) -> None:
        [sentence] = ConlluReader(io.BytesIO(self.ROW % b"C=5"), "x")
        assert sentence.with_misc([{"C": None}]).to_bytes() == self.ROW % b"_"

    @pytest.mark.parametrize("name", ["multiword", "nonprojective", "scripts", "windows"])
    def test_only_misc_of_words_changes(self, name: str) -> None:
        for sentence in read_conllu(DATA / f"{name}.conllu"):
            changed = sentence.with_misc([{"A": str(m)} for m in range(len(sentence))])
            assert [cell.split("|")[-1] for cell in changed.misc] == [f"A={m}" for m in range(len(sentence))]
            assert changed.with_misc([{"A": None}] * len(sentence)).to_bytes() == sentence.to_bytes()

    def test_mistakes(self) -> None:
        sentence = Sentence.from_words(["a", "b"])
        with pytest.raises(InputError, match="for 1 word in a sentence of 2"):
            sentence.with_misc([{}])
        with pytest.raises(InputError, match="has a tab"):
            sentence.with_misc([{}, {"A": "x\ty"}])
