"""What annotation writes into a sentence, and reads from it."""

from __future__ import annotations

from datetime import datetime, timezone
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.annotation.records import Annotation, Check, Status, check_name, checks_of, number_of
from easyfirst.errors import InputError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from tests.annotation.corpora import conllu, corpus_of, done, small_corpus

NOON = datetime(2026, 11, 19, 12, tzinfo=timezone.utc)
SENTENCE = """# text = Don't go

1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tStart=Yes
1\tDo\tdo\tAUX\t_\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\tConfirmed=seen
2.1\tyou\t_\t_\t_\t_\t_\t_\t_\t_
3\tgo\tgo\tVERB\t_\tMood=Imp\t0\troot\t0:root\tSpaceAfter=No|Own=1

"""


def read(block: bytes) -> Sentence:
    [sentence] = ConlluReader(BytesIO(block), "test")
    return sentence


def test_an_annotation_is_read_as_it_was_written() -> None:
    sentence = small_corpus().sentence(1)
    checks = {1: Check.seen, 2: Check.corrected}
    first = Annotation.of(sentence, Status.done, [2, 3, 0], ["det", "nsubj", "root"], checks, by="anna", time=NOON)
    found = Annotation.of(
        sentence, Status.done, first.heads, first.relations, checks, by="ben", before=first, time=NOON
    )
    block = found.write(sentence, 17)
    again = read(block)
    assert (Annotation.read(again), number_of(again)) == (found, 17)
    assert found.annotators == ("anna", "ben")
    assert again.comments[-4:] == (
        "# annotation_number = 17",
        "# annotation_status = done",
        "# annotation_by = anna, ben",
        "# annotation_time = 2026-11-19T12:00:00Z",
    )


def test_nothing_but_the_tree_the_key_and_the_comments_changes() -> None:
    for ending in ("\n", "\r\n"):
        block = SENTENCE.replace("\n", ending).encode()
        sentence = read(block)
        found = Annotation.of(
            sentence, Status.done, [2, 0, 2], ["a", "b", "c"], {3: Check.corrected}, by="x", time=NOON
        )
        comments = [
            f"# annotation_{key}" for key in ("number = 3", "status = done", "by = x", "time = 2026-11-19T12:00:00Z")
        ]
        expected = (
            SENTENCE.replace("\t3\taux", "\t2\ta").replace("\t3\tadvmod", "\t0\tb").replace("\t0\troot", "\t2\tc")
            .replace("Confirmed=seen", "_").replace("Own=1", "Own=1|Confirmed=corrected")
            .replace("1-2\t", "\n".join([*comments, "1-2\t"]))
        )  # fmt: skip
        assert found.write(sentence, 3) == expected.replace("\n", ending).encode()


@given(st.integers(0, 3), st.booleans())
def test_writing_twice_replaces_what_was_written(number: int, is_done: bool) -> None:
    corpus = small_corpus()
    annotation = done(corpus, 4)
    once = annotation.write(corpus.sentence(4), number)
    assert annotation.write(read(once), number) == once
    again = done(corpus, 4, by="ben", relation="obj").write(read(once), number)
    assert again == done(corpus, 4, by="ben", relation="obj").write(corpus.sentence(4), number)


def test_a_partial_tree_has_only_what_was_confirmed() -> None:
    sentence = small_corpus().sentence(1)
    found = Annotation.of(sentence, Status.partial, [2, 3, 0], ["det", "nsubj", "root"], {2: Check.seen}, by="anna")
    assert (found.heads, found.relations) == ((None, 3, None), (None, "nsubj", None))
    again = read(found.write(sentence, 1))
    assert checks_of(again) == {2: Check.seen}
    assert [word.head_id for word in again.words] == [None, 3, None]


@pytest.mark.parametrize(
    ("status", "heads", "relations", "checks", "message"),
    [
        ("done", [2, 1, 0], ["a", "b", "c"], {}, "form a cycle"),
        ("done", [0, 0, 1], ["a", "b", "c"], {}, "have HEAD 0"),
        ("done", [2, None, 0], ["a", "b", "c"], {}, "has no head"),
        ("done", [2, 3, 0], ["a", None, "c"], {}, "has no relation"),
        ("done", [2, 3], ["a", "b"], {}, "the sentence has 3 words"),
        ("done", [2, 3, 9], ["a", "b", "c"], {}, "has head 9"),
        ("done", [2, 3, 0], ["a", "b c", "c"], {}, "must be a name without spaces"),
        ("done", [2, 3, 0], ["a", "b", "c\n"], {}, "must be a name without spaces"),
        ("done", [2, 3, 0], ["a", "b", "c"], {4: Check.seen}, "word 4 is confirmed"),
        ("partial", [2, 1, 0], ["a", "b", "c"], {1: Check.seen, 2: Check.seen}, "form a cycle"),
    ],
)
def test_what_is_no_tree_is_refused(
    status: str, heads: list[int | None], relations: list[str | None], checks: dict[int, Check], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Annotation.of(small_corpus().sentence(1), Status(status), heads, relations, checks, by="anna")


@pytest.mark.parametrize("name", ["", "  ", "a, b", "x" * 61, "a\0b"])
def test_a_name_that_cannot_be_written_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="the annotator's name"):
        check_name(name)


def test_white_space_in_a_name_is_one_space() -> None:
    assert check_name(" Anna \n Blume ") == "Anna Blume"


def test_a_corpus_is_read_without_its_trees() -> None:
    corpus = corpus_of(conllu(("a", "b")))
    assert corpus.sentence(1).heads == (None, None)
    assert corpus.sentence(1).misc == ("Gloss=a", "Gloss=b")
