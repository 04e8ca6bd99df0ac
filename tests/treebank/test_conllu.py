"""CoNLL-U comes back byte for byte, streams, and is refused with a message that says where and what to do."""

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import DataError
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.patience import PATIENCE

DATA = Path(__file__).parent.parent / "data"
FILES = sorted(DATA.glob("*.conllu"))


def read(text: bytes | str) -> list[Sentence]:
    return list(ConlluReader(io.BytesIO(text.encode() if isinstance(text, str) else text), "x.conllu"))


def word(token_id: object, form: str = "a", *, head: object = "_", relation: str = "_", misc: str = "_") -> str:
    return f"{token_id}\t{form}\t_\tX\t_\t_\t{head}\t{relation}\t_\t{misc}\n"


def assert_round_trip(raw: bytes) -> list[Sentence]:
    reader = ConlluReader(io.BytesIO(raw), "x.conllu")
    sentences = list(reader)
    assert b"".join(sentence.to_bytes() for sentence in sentences) + reader.trailer == raw
    same = [sentence.with_tree(sentence.heads, sentence.relations) for sentence in sentences]
    assert b"".join(sentence.to_bytes() for sentence in same) + reader.trailer == raw
    return sentences


# Byte for byte


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_hand_written_files_come_back_byte_for_byte(path: Path) -> None:
    assert assert_round_trip(path.read_bytes())


CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r")
CELLS = st.one_of(
    st.sampled_from(
        ["_", "#", "a", "עברית", "👩\u200d🍳", "10\u00a0000", "a\u2028b\u0085c\u000b\u001c", "K=a=b|L", " "]
    ),
    st.text(CHARACTERS, min_size=1, max_size=5),
)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r\r\n"])
COMMENTS = st.text(CHARACTERS, max_size=8).map("#".__add__)


@st.composite
def sentences_as_text(draw: st.DrawFn) -> str:
    """A sentence with comments anywhere, multiword tokens, empty nodes and mixed line ends."""
    n = draw(st.integers(1, 4))
    lines = draw(st.lists(COMMENTS, max_size=2))

    def add(token_id: str, head: str) -> None:
        form, lemma, upos, xpos, feats, deps, misc = (draw(CELLS) for _ in range(7))
        relation = draw(st.one_of(st.just(""), CELLS))
        lines.append("\t".join([token_id, form, lemma, upos, xpos, feats, head, relation, deps, misc]))

    multiword_end = 0
    for m in range(n + 1):
        if m:
            add(str(m), draw(st.one_of(st.just("_"), st.just("00"), st.integers(0, n).map(str))))
        if draw(st.booleans()):
            add(f"{m}.1", "_")
        if multiword_end <= m < n and draw(st.booleans()):
            multiword_end = draw(st.integers(m + 1, n))
            add(f"{m + 1}-{multiword_end}", "_")
        lines += draw(st.lists(COMMENTS, max_size=1))
    return "".join(line + draw(LINE_ENDS) for line in lines)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, int]:
    """A file with odd starts, gaps and ends, and how many sentences it has."""
    blank = st.lists(LINE_ENDS, min_size=1, max_size=3).map("".join)
    orphans = st.tuples(COMMENTS, LINE_ENDS, blank).map("".join)
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(st.one_of(st.just(""), blank, orphans))
    parts = draw(st.lists(sentences_as_text(), max_size=3))
    for part in parts:
        text += part + draw(blank) + draw(st.one_of(st.just(""), orphans))
    end = draw(st.sampled_from(["as it is", "comment", "no blank line", "no line end"]))
    if end == "comment":
        text += "# the end"
    elif end == "no blank line":
        text = text.rstrip("\r\n") + "\n"
    elif end == "no line end":
        text = text.rstrip("\r\n")
    return text.encode(), len(parts)


@settings(deadline=None)
@given(files())
def test_any_file_comes_back_byte_for_byte(file: tuple[bytes, int]) -> None:
    raw, n_sentences = file
    assert len(assert_round_trip(raw)) == n_sentences


@settings(deadline=None)
@given(files())
def test_a_tree_taken_away_and_put_back_leaves_the_columns_as_they_were(file: tuple[bytes, int]) -> None:
    for sentence in read(file[0]):
        nothing = [None] * len(sentence)
        back = sentence.with_tree(nothing, nothing).with_tree(sentence.heads, sentence.relations)
        assert back.words == sentence.words
        assert read(back.to_bytes())[0].heads == sentence.heads


def test_what_belongs_to_no_sentence_goes_to_the_next_one_or_the_trailer() -> None:
    raw = ("\ufeff\n\n# lost\n\n# own\n" + word(1) + "\n\n\n" + word(1) + "\n\n# end\n").encode()
    reader = ConlluReader(io.BytesIO(raw), "x")
    first, second = reader
    assert first.prefix == "\ufeff\n\n# lost\n\n".encode()
    assert first.comments == ("# own",)
    assert (first.line, first.word_line(0)) == (5, 6)
    assert second.prefix == b"\n\n"
    assert (second.line, second.word_line(0)) == (10, 10)
    assert reader.trailer == b"\n# end\n"


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"\r\n\r\n", b"# only a comment", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n# c\n\n"]
)
def test_a_file_without_sentences_is_all_trailer(raw: bytes) -> None:
    reader = ConlluReader(io.BytesIO(raw), "x")
    assert list(reader) == []
    assert reader.trailer == raw
    assert next(reader, None) is None


# What is read


def test_multiword_tokens_and_empty_nodes_are_no_words() -> None:
    first, second = read_conllu(DATA / "multiword.conllu")
    assert first.forms == ("Do", "n't", "salt", "the", "soup", ".")
    assert first.upos == ("AUX", "PART", "VERB", "DET", "NOUN", "PUNCT")
    assert first.xpos == ("VB", "RB", "VB", "DT", "NN", ".")
    assert first.heads == (3, 3, 0, 5, 3, 3)
    assert first.relations == ("aux", "advmod", "root", "det", "obj", "punct")
    assert [first.word_line(i) for i in range(6)] == [5, 6, 7, 8, 9, 10]
    assert second.forms[5:8] == ("Ben", "beans", "#")
    assert second.word_line(6) == 21


def test_an_empty_node_may_come_before_the_first_word() -> None:
    *_, sentence = read_conllu(DATA / "nonprojective.conllu")
    assert sentence.forms == ("Rains",)


def test_only_line_feeds_and_tabs_divide_the_text() -> None:
    *_, sentence = read_conllu(DATA / "scripts.conllu")
    assert sentence.forms == ("10\u00a0000", "days", "a\u2028b\u0085c", "in spite")
    assert sentence.misc[2] == "Note=x\u00a0y"


def test_a_byte_order_mark_carriage_returns_and_a_missing_line_end_leave_no_trace_in_the_values() -> None:
    first, second = read_conllu(DATA / "windows.conllu")
    assert first.comments[0] == "# newdoc id = kitchen"
    assert first.misc[4] == "SpaceAfter=No|Gloss=a=b"
    assert (second.forms, second.misc[1]) == (("Go", "!"), "_")


def test_a_head_and_a_relation_that_are_not_given_are_none() -> None:
    (sentence,) = read(word(1, "a") + word(2, "b", head=1, relation="dep"))
    assert sentence.heads == (None, 1)
    assert sentence.relations == (None, "dep")


def test_a_sentence_of_2000_words_is_read() -> None:
    (sentence,) = assert_round_trip("".join(word(m, head=m - 1) for m in range(1, 2001)).encode())
    assert len(sentence) == 2000
    assert sentence.heads[-1] == 1999


def test_a_sentence_is_given_out_before_more_is_read() -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as source, os.fdopen(write_end, "wb", buffering=0) as sink:
        reader = ConlluReader(source, "pipe")
        got: list[Sentence] = []
        thread = threading.Thread(target=lambda: got.append(next(reader)), daemon=True)
        thread.start()
        sink.write((word(1, "now") + "\n").encode())
        thread.join(PATIENCE)
        assert [sentence.forms for sentence in got] == [("now",)]


# Files


def test_a_gzipped_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    plain = DATA / "multiword.conllu"
    packed = tmp_path / "multiword.conllu.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert [sentence.forms for sentence in read_conllu(packed)] == [sentence.forms for sentence in read_conllu(plain)]
    assert next(read_conllu(packed)).source == str(packed)


# Errors


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (word(1) + "2\tb\t_\n", 2, "3 tab-separated columns where CoNLL-U has 10; write one word per line"),
        ("hello\n", 1, "1 tab-separated column where CoNLL-U has 10; write one word per line"),
        (word(1).replace("\n", "\t_\n"), 1, "11 tab-separated columns where CoNLL-U has 10"),
        ("# c\n" + word(1).replace("\t", " "), 2, "1 tab-separated column .*separated by spaces: use single tabs"),
        (word(1).replace("\n", "\r") + word(2).replace("\n", "\r"), 1, "19 tab-.*end in carriage returns only"),
        (word(1) + " \t\n", 2, "a line of only spaces or tabs; make it empty or remove it"),
        (" \n" + word(1), 1, "a line of only spaces or tabs"),
        (word(1) + "\n\t\n" + word(1), 3, "a line of only spaces or tabs"),
        (word(1) + "\n# c\n  \n", 4, "a line of only spaces or tabs"),
        (word(1) + "\t" * 9 + "\r\n", 2, "a line of only spaces or tabs"),
        ("\n\n" + word("x"), 3, "ID is 'x'; it must be a number"),
        (word("٣"), 1, "ID is '٣'; it must be a number"),
        (word("1-2-3"), 1, "ID is '1-2-3'; it must be a number"),
        (word(1) + word(3), 2, "word ID 3 where 2 was expected; number the words"),
        (word("01"), 1, "word ID 01 where 1 was expected; number the words"),
        (word(1) + word(2) + word(1), 3, "word ID 1 where 3 was expected; put an empty line between two sentences"),
        (word(1) + word("1-2") + word(2), 2, "multiword token 1-2 must stand before its first word, here 2"),
        (word("2-1") + word(1), 1, "multiword token 2-1 must stand before its first word, here 1"),
        (word("1-2") + word(1) + word("2-3") + word(2), 3, "multiword token 2-3 overlaps the one before it"),
        (word(1) + word("2-4") + word(2), 2, "the multiword token ends at word 4 but the sentence has 2 words"),
        (word(1) + word("2.1"), 2, "empty node 2.1 must be numbered after the word before it, here 1"),
        (word("0.1"), 1, "this sentence has no words"),
        (word(1, head="x"), 1, "HEAD is 'x'; it must be a word's ID, 0 or _"),
        (word(1, head=-1), 1, "HEAD is '-1'"),
        (word(1, head="+1"), 1, r"HEAD is '\+1'"),
        (word(1, head=""), 1, "HEAD is ''"),
        (word(1, head="9" * 5000), 1, "HEAD is '999"),
        (word(1, head=0) + word(2, head=3), 2, "HEAD is 3 but the sentence has 2 words"),
        (word(1, form=""), 1, "FORM of token '1' is empty; write _"),
        (word(1) + word("2-3", form=""), 2, "FORM of token '2-3' is empty"),
    ],
)
def test_a_faulty_line_is_named_with_what_to_do(text: str, line: int, message: str) -> None:
    with pytest.raises(DataError, match=f"^x.conllu:{line}: {message}") as error:
        read(text)
    assert (error.value.source, error.value.line) == ("x.conllu", line)


def test_bytes_that_are_not_utf8_are_named_with_their_line() -> None:
    raw = (word(1) + "\n" + word(1)).encode() + word(2, "café").encode("latin-1")
    with pytest.raises(DataError, match=r"^x.conllu:4: byte 0xE9 is not valid UTF-8; convert the file to UTF-8 first"):
        read(raw)


def test_sentences_before_a_faulty_one_are_given_out() -> None:
    reader = ConlluReader(io.BytesIO((word(1) + "\n" + word(7)).encode()), "x")
    assert next(reader).forms == ("a",)
    with pytest.raises(DataError):
        next(reader)
