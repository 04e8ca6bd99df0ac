"""What a notebook shows of results, and their short descriptions."""

from __future__ import annotations

import sys
from functools import cache

import pytest

from easyfirst.errors import EasyFirstError, InputError
from easyfirst.parser import Parser, load
from easyfirst.results.notebook import MAX_SENTENCES, MAX_WORDS


@cache
def nlp() -> Parser:
    return load("en")


SENTENCE = "The quick brown fox jumps over the lazy dog."


def test_a_parse_is_a_picture() -> None:
    parse = nlp()(SENTENCE)[0]
    html = parse._repr_html_()
    assert html.count("<svg ") == 1
    assert html == parse.display().html
    assert "NNS" not in html
    assert ">NN<" in parse.display(show=["xpos"]).html
    assert parse.display(steps=True).html.startswith("<iframe ")
    assert repr(parse.display(steps=True)) == "<Display: the steps of 1 sentence>"


def test_documents_show_their_first_sentences() -> None:
    short, long = nlp()(f"{SENTENCE} {SENTENCE}"), nlp()(" ".join([SENTENCE] * 30))
    assert short._repr_html_().count("<svg ") == 2
    assert "more sentences" not in short._repr_html_()
    shown = long._repr_html_()
    assert shown.count("<svg ") == MAX_SENTENCES
    assert "… 25 more sentences (250 words); .display() draws all, document[5] the next." in shown
    assert long.display().html.count("<svg ") == 30
    assert repr(long.display()) == "<Display: 30 sentences>"
    assert "A document without words." in nlp()(" ")._repr_html_()


@pytest.mark.filterwarnings("ignore::easyfirst.errors.LanguageWarning")
def test_very_long_sentences_are_drawn_only_if_asked_for() -> None:
    [parse] = nlp().parse([["fox"] * (MAX_WORDS + 1)])
    assert "A sentence of 201 words; .display() draws it." in parse._repr_html_()
    assert "<svg " not in parse._repr_html_()
    assert parse.display().html.count("<svg ") == 1
    document = nlp()("fox " * (MAX_WORDS + 1))
    if len(document) == 1:
        assert "… 1 sentence (201 words)" in document._repr_html_()


def test_explanations_show_their_steps() -> None:
    explanation = nlp().explain("The fox likes apples.")
    assert explanation._repr_html_().startswith("<iframe ")
    assert "likes 3" in explanation._repr_html_()
    assert repr(explanation) == "Explanation('The fox likes apples .', 4 steps)"


def test_descriptions_are_short() -> None:
    parse = nlp()(" and ".join([SENTENCE.rstrip(".")] * 5) + ".")[0]
    assert repr(parse) == f"Parse('The quick brown fox jumps over the la...', {len(parse)} words)"
    assert repr(nlp()("Yes")) == "Document('Yes', 1 sentence, 1 word)"
    assert repr(nlp()("Yes")[0]) == "Parse('Yes', heads=(0,), relations=('root',))"


def test_wrong_arguments() -> None:
    document = nlp()("Yes")
    with pytest.raises(InputError, match="leave out the theme"):
        document.display(steps=True, theme="dark")
    with pytest.raises(InputError, match="'words' is not a column that can be shown"):
        document.display(show="words")


@pytest.mark.parametrize(
    ("package", "method", "message"),
    [
        ("pyarrow", "to_arrow", 'Arrow and Parquet need PyArrow; install it with: pip install "easyfirst[arrow]"'),
        ("pandas", "to_pandas", 'data frames need pandas; install it with: pip install "easyfirst[pandas]"'),
        ("nltk", "to_nltk", "this needs NLTK; install it with: pip install nltk"),
    ],
)
def test_missing_packages_are_named(package: str, method: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    for result in (nlp()("Yes"), nlp()("Yes")[0]):
        with pytest.raises(EasyFirstError) as raised:
            getattr(result, method)()
        assert str(raised.value) == message
