"""Constraints through the facade: how they are given, what is refused, and the page that explains them."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from pathlib import Path

import pytest

import easyfirst
from easyfirst.constraints.records import Constraints
from easyfirst.errors import ConstraintError, InputError
from easyfirst.parser import Parser
from easyfirst.treebank.sentence import Sentence
from tests.small_models import small_model, small_tagger, small_tokenizer

DOCS = Path(__file__).parent.parent / "docs"
FOX = ["The", "fox", "jumps"]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(small_model("none"))


@pytest.fixture(scope="module")
def reader() -> Parser:
    return Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())


def first_is_root(sentence: Sentence) -> Constraints:
    return Constraints.of(heads={1: 0})


@pytest.mark.parametrize("root", [1, 2, 3])
def test_one_for_each_sentence(parser: Parser, root: int) -> None:
    known = Constraints.of(heads={root: 0})
    free, fixed = parser.parse([FOX, FOX], constraints=[None, known])
    assert free == parser.parse([FOX])[0]
    assert (fixed.tree.root, fixed.fixed_heads) == (root, (root,))
    assert list(parser.pipe(iter([FOX, FOX]), constraints=iter([None, known]))) == [free, fixed]
    assert list(parser.pipe([FOX, FOX], constraints=iter([None, known]), batch_size=1)) == [free, fixed]


def test_a_function(parser: Parser) -> None:
    assert [parse.tree.root for parse in parser.parse([FOX, ["a", "b"]], constraints=first_is_root)] == [1, 1]
    assert parser.parse([FOX], constraints=lambda sentence: None) == parser.parse([FOX])


def test_a_parse_keeps_its_constraints(parser: Parser) -> None:
    [fixed] = parser.parse([FOX], constraints=first_is_root)
    assert fixed.constraints == first_is_root(fixed.sentence)
    assert parser.parse([fixed.sentence]) == parser.parse([FOX])


def test_predicted_tags_change_nothing(reader: Parser) -> None:
    [parse] = reader.parse([FOX], constraints=first_is_root)
    assert (parse.tree.root, parse.fixed_heads) == (1, (1,))
    assert parse.tagged.upos != ("_", "_", "_")


def test_texts(reader: Parser) -> None:
    free, fixed = (
        list(reader.read(["The fox jumps. It likes apples."], constraints=given)) for given in (None, first_is_root)
    )
    assert [parse.tree.root for document in fixed for parse in document] == [1] * len(fixed[0])
    assert fixed[0].tokens == free[0].tokens
    wrong = Constraints.of(heads={1: 1})
    documents = reader.read(["The fox jumps over dogs"], constraints=lambda sentence: wrong)
    with pytest.raises(ConstraintError, match=r"^the sentence 'T.*': word 1 cannot be its own head"):
        next(documents)


def test_explanations(reader: Parser) -> None:
    for root in (1, 2, 3):
        known = Constraints.of(heads={root: 0})
        found = reader.explain(FOX, constraints=known)
        assert [found.parse] == reader.parse([FOX], constraints=[known])
        assert all(other.modifier != root for step in found.steps for other in step.runners_up)
        again = reader.explain(found.parse.sentence, constraints=known)
        assert again.steps == found.steps or found.parse.changes  # a changed tag is a given one the next time
    first = reader.explain("The fox jumps.", constraints=Constraints.of(heads={1: 0}))
    assert first.parse.tree.root == 1
    assert reader.explain(FOX, constraints=Constraints()).steps == reader.explain(FOX).steps


def test_explanations_of_what_is_given_wrongly(parser: Parser) -> None:
    for given in ([None], {1: 2}, 7):
        with pytest.raises(InputError, match=r"the constraints are of type \w+; give those on the sentence"):
            parser.explain(FOX, constraints=given)  # type: ignore[arg-type]
    with pytest.raises(ConstraintError, match="word 1 cannot be its own head"):
        parser.explain(FOX, constraints=Constraints.of(heads={1: 1}))


def test_the_sentence_is_numbered(parser: Parser) -> None:
    with pytest.raises(ConstraintError, match=r"^sentence 2: word 1 cannot be its own head"):
        parser.parse([FOX, FOX], constraints=[None, Constraints.of(heads={1: 1})])


def test_a_stream_gives_what_comes_before_the_mistake(parser: Parser) -> None:
    known = iter([None, Constraints.of(heads={9: 1})])
    parses = parser.pipe([FOX, FOX], constraints=known, batch_size=1)
    assert len(next(parses)) == 3
    with pytest.raises(ConstraintError, match="sentence 2"):
        next(parses)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "there are constraints for only 0 sentences"),
        ([None], "there are constraints for only 1 sentence;"),
        ([None] * 3, "there are constraints for more than 2 sentences"),
        (Constraints.of(heads={1: 2}), "the constraints are for one sentence only"),
        ([{1: 2}, None], "the constraints on a sentence are of type dict"),
        (7, "the constraints are of type int"),
        (lambda sentence: 7, "the constraints on a sentence are of type int"),
    ],
)
def test_what_is_given_wrongly(parser: Parser, given, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parser.parse([FOX, FOX], constraints=given)


def test_no_sentences(parser: Parser) -> None:
    assert parser.parse([], constraints=[]) == []
    assert parser.parse([], constraints=first_is_root) == []


def test_batches_may_be_mixed(parser: Parser) -> None:
    """Sentences without constraints come out to the bit as they do alone among their like."""

    def some(numbers: range) -> Iterator[Constraints | None]:
        return (Constraints.of(heads={1: 2}, forbidden=[(1, 3)]) if number % 3 == 0 else None for number in numbers)

    sentences = [[f"w{number}", "fox", "jumps", "over", "dogs"][: 3 + number % 3] for number in range(40)]
    plain, mixed = parser.parse(sentences), parser.parse(sentences, constraints=some(range(40)))
    for number, (a, b) in enumerate(zip(plain, mixed, strict=True)):
        if number % 3 == 0:
            assert b.heads[0] == 2
            assert b.heads[2] != 1
        else:
            assert a == b
            assert a.steps.scores.tobytes() == b.steps.scores.tobytes()
            assert a.steps.margins.tobytes() == b.steps.margins.tobytes()


def test_public_names() -> None:
    assert easyfirst.Constraints is Constraints
    assert easyfirst.ConstraintError is ConstraintError
    assert callable(easyfirst.constraints_of)


def test_the_page() -> None:
    results = doctest.testfile(str(DOCS / "constraints.md"), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert not results.failed
