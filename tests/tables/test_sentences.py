"""Rows hold all of a sentence: CoNLL-U comes back byte for byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from easyfirst.errors import DataError
from easyfirst.tables.parquet import rows_of_sentences
from easyfirst.tables.rows import EmptyNode, MultiwordToken, Row
from easyfirst.tables.sentences import row_of, sentence_of, sentences_of
from easyfirst.treebank.sentence import Sentence
from tests.tables.corpora import canonical_files, read
from tests.treebank.test_conllu import files

DATA = Path(__file__).parent.parent / "data"


def rows_of_bytes(raw: bytes) -> list[Row]:
    return list(rows_of_sentences(read(raw)[0]))


def row(**columns: object) -> Row:
    """A row of two words, as a user might make it."""
    nothing = dict.fromkeys(("start", "end", "lemma", "upos", "xpos", "feats", "deps", "misc"), (None, None))
    given = {"doc_id": None, "sent_id": None, "text": None, "form": ("The", "fox"), "head": (2, 0)}
    given |= {"deprel": ("det", "root"), "confidence": (None, None), "label_confidence": (None, None)}
    return Row(**(nothing | given | columns))  # type: ignore[arg-type]


def columns(sentence: Sentence) -> list[object]:
    names = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "relations", "deps", "misc")
    return [getattr(sentence, name) for name in names]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.conllu")), ids=lambda path: path.stem)
def test_hand_written_files_come_back_byte_for_byte(path: Path) -> None:
    raw = path.read_bytes()
    sentences, trailer = read(raw)
    rows = list(rows_of_sentences(sentences))
    assert b"".join(sentence.to_bytes() for sentence in sentences_of(rows)) + trailer == raw
    assert [columns(s) for s in sentences_of(rows)] == [columns(s) for s in sentences]


@given(files())
def test_any_file_comes_back_byte_for_byte(file: tuple[bytes, int]) -> None:
    sentences, trailer = read(file[0])
    back = sentences_of(rows_of_sentences(sentences))
    assert b"".join(sentence.to_bytes() for sentence in back) + trailer == file[0]


@pytest.mark.parametrize("column", range(1, 10))
def test_a_carriage_return_inside_a_cell_comes_back(column: int) -> None:
    cells = ["1", "fox", "_", "_", "_", "_", "0", "root", "_", "_"]
    if column != 6:  # HEAD is a number
        cells[column] = "a\rb"
    raw = ("\t".join(cells) + "\r\n\r\n").encode()  # which the columns of a row do not say
    [row] = rows_of_bytes(raw)
    assert sentence_of(row).to_bytes() == raw
    assert sentence_of(replace(row, head=(None,))).heads == (None,)
    assert sentence_of(replace(row, deprel=("dep",))).relations == ("dep",)


@given(canonical_files())
def test_what_tools_write_needs_no_verbatim_bytes(raw: bytes) -> None:
    sentences, _ = read(raw)
    rows = list(rows_of_sentences(sentences))
    assert [row.verbatim for row in rows] == [None] * len(sentences)
    back = list(sentences_of(rows))
    assert b"".join(sentence.to_bytes() for sentence in back) == raw
    assert [s.multiword for s in back] == [
        tuple(replace(token, line=number) for token in s.multiword) for number, s in enumerate(sentences, 1)
    ]


@given(files())
def test_columns_prevail_over_verbatim_bytes(file: tuple[bytes, int]) -> None:
    """A tool that changes the trees of a table need not know about the bytes."""
    for sentence in read(file[0])[0]:
        heads, relations = (0,) * len(sentence), ("x:y",) * len(sentence)
        changed = replace(row_of(sentence), head=heads, deprel=relations, xpos=relations)
        expected = replace(sentence.with_tree(heads, relations), xpos=relations)
        assert sentence_of(changed).to_bytes() == expected.to_bytes()


def test_multiword_tokens_and_empty_nodes_have_columns() -> None:
    first, second = rows_of_bytes((DATA / "multiword.conllu").read_bytes())
    assert first.multiword == (MultiwordToken(1, 2, "Don't", None),)
    assert (first.doc_id, first.sent_id, first.text) == ("kitchen", "kitchen-1", "Don't salt the soup.")
    assert first.comments == ("# newdoc id", "# sent_id", "# text")
    assert second.doc_id == "kitchen"
    assert second.comments == ("# sent_id", "# text")
    node = EmptyNode("6.1", "cooks", "cook", "VERB", "VBZ", None, "2:conj:and", "CopyOf=2")
    assert second.empty == (node,)


def test_words_of_a_multiword_token_have_its_position() -> None:
    raw = (
        b"1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=7:12\n"
        b"1\tdo\t_\t_\t_\t_\t0\troot\t_\t_\n2\tn't\t_\t_\t_\t_\t1\tadvmod\t_\t_\n"
        b"3\t.\t_\t_\t_\t_\t1\tpunct\t_\tTokenRange=12:13\n\n"
    )
    [found] = rows_of_bytes(raw)
    assert (found.start, found.end) == ((7, 7, 12), (12, 12, 13))
    assert (found.multiword[0].misc, found.misc) == ("SpaceAfter=No", (None, None, None))
    assert found.text == "don't."
    assert sentence_of(found).to_bytes() == raw


@pytest.mark.parametrize(
    ("misc", "start", "stored"),
    [
        ("TokenRange=3:5", 3, None),
        ("A|TokenRange=3:5", 3, "A"),
        ("TokenRange=3:5|A", 3, "TokenRange=3:5|A"),
        ("TokenRange=03:5", None, "TokenRange=03:5"),
        ("TokenRange=3", None, "TokenRange=3"),
        ("TokenRange=1:2|TokenRange=3:5", 1, "TokenRange=1:2|TokenRange=3:5"),
        ("TokenRange=99999999999999999999:5", None, "TokenRange=99999999999999999999:5"),
    ],
)
def test_positions_at_the_end_of_misc_are_stored_once(misc: str, start: int | None, stored: str | None) -> None:
    raw = f"1\ta\t_\t_\t_\t_\t0\troot\t_\t{misc}\n\n".encode()
    [found] = rows_of_bytes(raw)
    assert (found.start, found.misc, found.verbatim) == ((start,), (stored,), None)
    assert sentence_of(found).to_bytes() == raw


def test_confidence_is_read_from_misc() -> None:
    cells = ["ArcConf=0.9812|LabelConf=0.5", "ArcConf=1.5", "ArcConf=nan", "_"]
    raw = "".join(f"{m}\ta\t_\t_\t_\t_\t0\troot\t_\t{cell}\n" for m, cell in enumerate(cells, 1)) + "\n"
    [found] = rows_of_bytes(raw.encode())
    assert found.confidence == (0.9812, None, None, None)
    assert found.label_confidence == (0.5, None, None, None)


def test_the_text_is_made_from_the_forms_if_no_comment_has_it() -> None:
    [found] = rows_of_bytes(b"1\tfox\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n")
    assert (found.text, found.comments, found.verbatim) == ("fox.", (), None)


def test_documents_go_on_until_the_next_one_begins() -> None:
    words = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    comments = ["", "# newdoc id = b\n", "", "#newdoc id=c d \n", "# newdoc\n", "# newdocument id = e\n"]
    raw = "".join(comment + words for comment in comments).encode()
    assert [row.doc_id for row in rows_of_bytes(raw)] == [None, "b", "b", "c d", None, None]


def test_a_table_without_comments_gets_those_of_its_columns() -> None:
    rows = [row(doc_id="d", sent_id="d-1", text="The\n fox"), row(doc_id="d", sent_id="d-2"), row(doc_id="e")]
    found = [sentence.comments for sentence in sentences_of(rows)]
    assert found == [
        ("# newdoc id = d", "# sent_id = d-1", "# text = The fox"),
        ("# sent_id = d-2",),
        ("# newdoc id = e",),
    ]


def test_sentences_of_rows_name_the_row() -> None:
    sentence = sentence_of(row(), "x.parquet", 17)
    assert (sentence.source, sentence.line, sentence.word_line(1)) == ("x.parquet", 17, 17)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"form": ("a\tb", "c")}, "x.parquet:3: 'a\\tb' has a tab or a line end in it, which CoNLL-U cannot hold"),
        ({"misc": ("a\nb", None)}, "x.parquet:3: 'a\\nb' has a tab or a line end"),
        ({"head": (2,)}, "x.parquet:3: head has 1 value for 2 words; give one for each word"),
        ({"head": (7, 0)}, "x.parquet, row 3:1: HEAD is 7 but the sentence has 2 words"),
        ({"form": ("", "c")}, "x.parquet, row 3:1: FORM of token '1' is empty"),
        ({"comments": ("no comment",)}, "x.parquet:3: the comment 'no comment' is not one line that begins with #"),
        ({"doc_id": "a\nb", "comments": ("# newdoc id",)}, "x.parquet:3: the doc_id 'a\\nb' has a line end"),
        (
            {"multiword": (MultiwordToken(1, 5, "x"),)},
            "x.parquet:3: (1, 5, 'x', None) is not a multiword token of 2 words",
        ),
        ({"multiword": (MultiwordToken(None, 2, "x"),)}, "x.parquet:3: (None, 2, 'x', None) is not a multiword"),
        ({"empty": (EmptyNode("x", "x"),)}, "x.parquet:3: the empty node 'x' needs a form, and an id such as 2.1"),
        ({"empty": (EmptyNode("3.1", "x"),)}, "x.parquet:3: the empty node '3.1' needs a form"),
    ],
)
def test_wrong_rows_are_refused(columns: dict[str, object], message: str) -> None:
    with pytest.raises(DataError) as raised:
        sentence_of(row(**columns), "x.parquet", 3)
    assert str(raised.value).startswith(message)
