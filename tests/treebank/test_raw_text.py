"""The raw text of a treebank, and the places of its units."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ConfigError, DataError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.raw_text import Paragraph, raw_text, read_paragraphs, spaces_of
from easyfirst.treebank.sentence import Sentence


def read(conllu: str) -> list[Sentence]:
    return list(ConlluReader(io.BytesIO(conllu.encode()), "x.conllu"))


def block(*tokens: str, comments: Iterable[str] = (), end: str = "\n") -> str:
    """Tokens: "form", "form MISC" or, for several words, "form MISC word word ..."; "~" is a space."""
    rows = [f"# {comment}" for comment in comments]
    n = 0
    for token in tokens:
        form, misc, *words = [*token.split(" "), "_"][: max(2, token.count(" ") + 1)]
        if words:
            rows.append("\t".join([f"{n + 1}-{n + len(words)}", form, *"_______", misc]))
        for word in words or [form]:
            n += 1
            rows.append("\t".join([str(n), word, *"____", "0", "root", "_", "_" if words else misc]))
    return "".join(row.replace("~", " ") + end for row in [*rows, ""])


def shown(paragraphs: Iterable[Paragraph]) -> list[list[list[str]]]:
    """What stands in the text where the tokens are said to be."""
    return [
        [[paragraph.text[token.start : token.end] for token in sentence] for sentence in paragraph.sentences]
        for paragraph in paragraphs
    ]


def test_text_is_made_of_forms_and_spaces() -> None:
    (paragraph,) = read_paragraphs(read(block("A", "b SpaceAfter=No", ".") + block("C x|SpaceAfter=No", "!")))
    assert paragraph.text == "A b. C!"
    assert shown([paragraph]) == [[["A", "b", "."], ["C", "!"]]]


def test_sentences_may_follow_without_a_space() -> None:
    (paragraph,) = read_paragraphs(read(block("a", "b SpaceAfter=No") + block("c")))
    assert paragraph.text == "a bc"
    assert shown([paragraph]) == [[["a", "b"], ["c"]]]


@pytest.mark.parametrize("comment", ["newpar", "newpar id = p2", "newdoc id = d"])
def test_a_paragraph_begins_where_a_comment_says(comment: str) -> None:
    text = block("a", comments=["text = a"]) + block("b", comments=[comment]) + block("c", comments=["newparty = 1"])
    assert [paragraph.text for paragraph in read_paragraphs(read(text))] == ["a", "b c"]
    assert raw_text(read_paragraphs(read(text))) == "a\n\nb c"


def test_a_comment_before_a_blank_line_begins_a_paragraph_too() -> None:
    text = block("a SpaceAfter=No") + "# newdoc\n\n" + block("b")
    assert [paragraph.text for paragraph in read_paragraphs(read(text))] == ["a", "b"]


def test_the_text_comment_counts_if_the_tokens_are_in_it() -> None:
    (paragraph,) = read_paragraphs(read(block("a", "b", comments=["text = a  b"])))
    assert paragraph.text == "a  b"
    (paragraph,) = read_paragraphs(read(block("a", "b SpaceAfter=No", "c", comments=["text = a x c"])))
    assert paragraph.text == "a bc"
    (paragraph,) = read_paragraphs(read(block("a", "b", comments=["text = a b c"])))
    assert paragraph.text == "a b"


def test_a_multiword_token_is_one_token() -> None:
    text = block("Dámelo SpaceAfter=No Da me lo", ".", comments=["text = Dámelo."])
    (paragraph,) = read_paragraphs(read(text))
    assert shown([paragraph]) == [[["Dámelo", "."]]]
    assert [token.words for token in paragraph.sentences[0]] == [("Da", "me", "lo"), (".",)]


def test_empty_nodes_are_no_tokens() -> None:
    text = block("a SpaceAfter=No", "b").replace("2\tb", "1.1\tx\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\tb")
    assert read_paragraphs(read(text))[0].text == "ab"


def test_line_ends_may_be_those_of_windows() -> None:
    (paragraph,) = read_paragraphs(read(block("a SpaceAfter=No", "b", comments=["newpar", "text = ab"], end="\r\n")))
    assert paragraph.text == "ab"
    (paragraph,) = read_paragraphs(read(block("a SpaceAfter=No", "b", end="\r\n")))
    assert paragraph.text == "ab"


def test_forms_may_hold_spaces() -> None:
    (paragraph,) = read_paragraphs(read(block("3~500", "x SpaceAfter=No")))
    assert paragraph.text == "3 500 x"
    assert shown([paragraph]) == [[["3 500", "x"]]]


def test_a_form_of_white_space_is_an_error() -> None:
    with pytest.raises(DataError, match=r"x\.conllu:2: FORM is '\\xa0'"):
        read_paragraphs(read(block("a SpaceAfter=No", "\xa0")))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["看似", "簡單", "。"], "看似簡單。"),
        (["วันนี้", "อากาศ", "ดี"], "วันนี้อากาศดี"),
        (["Hij", "zei", ":", '"', "Ja", ",", "(", "nee", ")", '"', "!"], 'Hij zei: "Ja, (nee)"!'),
        (["«", "Bai", "»", "eta", "'", "ez", "'", ",", "%", "5", "..."], "«Bai» eta 'ez',% 5..."),
        (["en", "/", "of", "``", "zo", "''", ".", "``", "x"], "en/of ``zo''. ``x"),
        (["12", "-", "13", "’s", "avonds"], "12 - 13 ’s avonds"),
    ],
)
def test_spaces_that_a_treebank_does_not_mark_are_guessed(words: list[str], text: str) -> None:
    (paragraph,) = read_paragraphs(read(block(*words)))
    assert paragraph.text == text
    assert shown([paragraph]) == [[words]]


def test_how_the_spaces_of_a_treebank_are_known() -> None:
    assert spaces_of(list(read(block("Ja", ".")))) == "guessed"
    assert spaces_of(list(read(block("看似", "簡單", "容易", "TV")))) == "none"
    assert spaces_of(list(read(block("看似", "簡單") + block("簡單 SpaceAfter=No", "。")))) == "given"
    assert [each.text for each in read_paragraphs(read(block("Ja", ".") + block("Nee", ".")))] == ["Ja. Nee."]
    assert read_paragraphs(read(block("Ja", ".")), spaces="none")[0].text == "Ja."
    with pytest.raises(ConfigError, match="given, none, guessed"):
        read_paragraphs([], spaces="some")
    assert read_paragraphs([]) == []


def test_a_language_without_spaces_has_them_only_between_latin_words() -> None:
    (paragraph,) = read_paragraphs(read(block("用", "Visual", "Basic", "6", "寫", "。") + block("好")), spaces="none")
    assert paragraph.text == "用Visual Basic 6寫。好"
    assert shown([paragraph]) == [[["用", "Visual", "Basic", "6", "寫", "。"], ["好"]]]


forms = st.text("ab.é字", min_size=1, max_size=3)
units = st.lists(st.tuples(forms, st.booleans()), min_size=1, max_size=5)


@settings(deadline=None)
@given(st.lists(units, min_size=1, max_size=4), st.booleans())
def test_nothing_but_spaces_is_between_tokens(sentences: list[list[tuple[str, bool]]], has_text: bool) -> None:
    conllu = ""
    for sentence in sentences:
        text = "".join(form + " " * space for form, space in sentence).strip()
        tokens = [form + " SpaceAfter=No" * (not space) for form, space in sentence]
        conllu += block(*tokens, comments=[f"text = {text}"] if has_text else ["newline"])
    conllu += block("end SpaceAfter=No")
    (paragraph,) = read_paragraphs(read(conllu))
    expected = "".join(form + " " * space for sentence in sentences for form, space in sentence) + "end"
    assert paragraph.text == expected
    assert shown([paragraph]) == [[*([form for form, _ in sentence] for sentence in sentences), ["end"]]]
