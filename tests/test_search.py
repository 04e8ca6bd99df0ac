"""Search for similar subtrees against comparing all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from easyfirst import Hit, Sentence, find_similar, read_conllu, search
from easyfirst.errors import DataError, InputError
from easyfirst.parser import Parser
from easyfirst.treebank.tree import Tree
from tests.parsing.small_parsers import DATA
from tests.small_models import small_model, small_tagger, small_tokenizer

SENTENCES = [*read_conllu(DATA / "multiword.conllu"), *read_conllu(DATA / "nonprojective.conllu")]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(small_model("upos"), tokenizer=small_tokenizer(), tagger=small_tagger())


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / max(np.linalg.norm(one) * np.linalg.norm(other), 1e-9))


def all_scores(parser: Parser, phrase: str, share: float) -> dict[str, float]:
    """The best similarity of every distinct text among all subtrees."""
    [document] = parser.read([phrase], one_sentence=True)
    query, vocabulary = document[0], parser.model.vocabulary
    table = parser.model.arrays["words.embedding"]

    def mean(sentence: Sentence, ids: Sequence[int]) -> np.ndarray:
        return np.mean([table[vocabulary.words.get(sentence.forms[m - 1].lower(), 0)] for m in ids], axis=0)

    found: dict[str, float] = {}
    for sentence in SENTENCES:
        tree = Tree(tuple(head or 0 for head in sentence.heads), tuple(name or "" for name in sentence.relations))
        [vectors] = parser.encoder.subtrees([sentence], [tree])
        for m in range(1, len(tree) + 1):
            ids = tree.subtree(m)
            by_tree = cosine(vectors[m - 1], query.vectors[query.tree.root - 1])
            by_words = cosine(mean(sentence, ids), mean(query.sentence, range(1, len(query) + 1)))
            text = " ".join(sentence.forms[k - 1] for k in ids).lower()
            found[text] = max(found.get(text, -2), (1 - share) * by_tree + share * by_words)
    return found


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("words_at_once", [1, 10_000])
def test_the_hits_are_the_best_of_all_subtrees(parser: Parser, share: float, words_at_once: int) -> None:
    with patch.object(search, "WORDS_AT_ONCE", words_at_once):
        hits = find_similar(parser, "the salt", iter(SENTENCES), top=7, words=share)
    scores = all_scores(parser, "the salt", share)
    expected = sorted(scores.values(), reverse=True)[:7]
    assert [hit.score for hit in hits] == pytest.approx(expected, abs=1e-5)
    for hit in hits:
        assert scores[hit.text.replace(" ... ", " ").lower()] == pytest.approx(hit.score, abs=1e-5)
        assert hit.sentence.forms == SENTENCES[hit.number - 1].forms


def test_the_number_of_words_is_restricted(parser: Parser) -> None:
    hits = find_similar(parser, "the soup", SENTENCES, top=100, min_words=2, max_words=3)
    assert {len(hit.words) for hit in hits} == {2, 3}


def test_a_hit_names_its_place(parser: Parser) -> None:
    hits = find_similar(parser, "the soup", SENTENCES[:1], top=100)
    [hit] = [hit for hit in hits if hit.text == "the soup"]
    assert (hit.words, hit.head, hit.number) == ((4, 5), 5, 1)
    found = json.loads(json.dumps(hit.to_dict()))
    assert found["sent_id"] == "kitchen-1"
    assert found["sentence_text"] == "Don't salt the soup."
    assert (found["relation"], found["line"], found["file"]) == ("obj", 1, str(DATA / "multiword.conllu"))


def test_parts_of_a_crossing_subtree_are_apart(parser: Parser) -> None:
    sentence = Sentence.from_words(["a", "b", "c"], heads=[0, 1, 0], relations=["root", "x", "root"])
    crossing = Sentence.from_words(["a", "b", "c"], heads=[3, 0, 2], relations=["x", "root", "x"])
    texts = {hit.text for hit in find_similar(parser, "a", [crossing], top=9)}
    assert texts == {"a", "a ... c", "a b c"}
    with pytest.raises(DataError, match="one root"):
        find_similar(parser, "a", [sentence])


def test_sentences_without_heads_are_parsed(parser: Parser) -> None:
    bare = [Sentence.from_words(sentence.forms) for sentence in SENTENCES]
    parsed = [parse.to_sentence() for parse in parser.parse(bare)]
    mixed = [one if number % 2 else other for number, (one, other) in enumerate(zip(bare, parsed, strict=True))]
    found = [find_similar(parser, "the soup", given, top=5) for given in (bare, parsed, mixed)]
    assert [[hit.text for hit in hits] for hits in found] == [[hit.text for hit in found[0]]] * 3
    assert all(hit.sentence.heads != (None,) * len(hit.sentence) for hit in found[0])


def test_a_model_without_a_tokenizer_splits_the_phrase_at_spaces() -> None:
    parser = Parser(small_model("none"))
    assert isinstance(find_similar(parser, "the soup", SENTENCES, top=1)[0], Hit)


def test_progress_is_reported(parser: Parser) -> None:
    seen: list[Sentence] = []
    find_similar(parser, "soup", SENTENCES, report=seen.extend)
    assert seen == SENTENCES


@pytest.mark.parametrize(
    ("phrase", "options", "message"),
    [
        (" ", {}, "the phrase has no words"),
        ("soup", {"top": 0}, "top is 0"),
        ("soup", {"words": 1.5}, "words is 1.5; it is a share"),
        ("soup", {"min_words": 0}, "min_words must be 1 or more"),
        ("soup", {"min_words": 3, "max_words": 2}, "max_words not less"),
    ],
)
def test_what_cannot_be_searched_is_refused(parser: Parser, phrase: str, options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_similar(parser, phrase, SENTENCES, **options)


def test_an_empty_corpus_has_nothing(parser: Parser, tmp_path: Path) -> None:
    assert find_similar(parser, "soup", []) == []
