"""The beam as users of the facade see it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from easyfirst.confidence.calibration import BeamCalibration, Logistic
from easyfirst.errors import ConfigError
from easyfirst.parser import Parser, load
from easyfirst.results.parses import Parse
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.tree import check_tree
from tests.calibrations import BY_HAND
from tests.parsing.small_parsers import DATA, engine_of, small_parser, tagged

SENTENCES = [tagged(["salt", "the", "soup", "."]), tagged(["zebra"]), tagged(["the", "zebra", "salt"])]
CALIBRATION = replace(BY_HAND, beam=BeamCalibration(2.0, Logistic(0.5, (0.7, -0.1)), 8))


@pytest.fixture(scope="module")
def parser() -> Parser:
    made = small_parser()
    return Parser(replace(made.model, calibration=CALIBRATION), engine=engine_of(made), valid=False)


@pytest.fixture(scope="module")
def english() -> Parser:
    return load("en")


def assert_ranked(parse: Parse, n_best: int) -> None:
    """The trees are valid, different and sorted, and their probabilities are those of one distribution."""
    trees = parse.n_best
    assert 1 <= len(trees) <= n_best
    assert len({(tree.heads, tree.relations) for tree in trees}) == len(trees)
    rankings = [tree.ranking for tree in trees if tree.ranking is not None]
    assert [ranking.rank for ranking in rankings] == list(range(1, len(trees) + 1))
    scores = [ranking.score for ranking in rankings]
    assert scores == sorted(scores, reverse=True)
    for tree in trees:
        check_tree(tree.to_sentence())
        assert tree.heads.count(0) == 1
        assert tree.alternatives == () or tree is parse
    probabilities = [ranking.probability for ranking in rankings]
    assert all(p is not None and 0 < p <= 1 for p in probabilities)
    assert sum(p for p in probabilities if p is not None) <= 1 + 1e-9


@pytest.mark.parametrize(("beam", "n_best"), [(2, 1), (4, 4), (16, 3)])
def test_every_sentence_has_its_best_trees(parser: Parser, beam: int, n_best: int) -> None:
    parses = parser.parse(SENTENCES, beam=beam, n_best=n_best)
    assert [parse.sentence.forms for parse in parses] == [sentence.forms for sentence in SENTENCES]
    for parse in parses:
        assert_ranked(parse, n_best)
    assert len(parses[0].n_best) == n_best
    assert len(parses[1].n_best) == 1
    assert parses[1].ranking is not None
    assert parses[1].ranking.probability == 1


def test_a_beam_of_one_is_the_greedy_parser_without_a_ranking(parser: Parser) -> None:
    parses = parser.parse(SENTENCES, beam=1, n_best=1)
    assert parses == parser.parse(SENTENCES)
    assert all(parse.ranking is None and parse.n_best == (parse,) for parse in parses)


def test_a_beam_of_one_goes_through_the_engine_of_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parser, seen = small_parser(), list[Any]()
    monkeypatch.setattr(type(engine_of(parser)), "search", lambda *given: seen.append(given))
    parser.parse(SENTENCES, beam=1)
    assert not seen


def test_pipe_and_parse_agree_whatever_the_number_of_threads(parser: Parser) -> None:
    once = parser.parse(SENTENCES * 3, beam=4, n_best=2)
    for threads in (1, 2):
        again = list(parser.pipe(SENTENCES * 3, beam=4, n_best=2, threads=threads, batch_size=2))
        assert [parse.n_best for parse in again] == [parse.n_best for parse in once]


def test_without_a_calibration_there_are_scores_only() -> None:
    [parse] = small_parser().parse(SENTENCES[:1], beam=4, n_best=2)
    assert [tree.ranking.probability for tree in parse.n_best if tree.ranking] == [None, None]
    assert "parse_probability" not in parse.to_conllu()
    assert parse.to_dict()["probability"] is None


def test_conllu_has_the_rank_score_and_probability(parser: Parser) -> None:
    [given] = list(read_conllu(DATA / "multiword.conllu"))[:1]
    [parse] = parser.parse([given], beam=4, n_best=2)
    for rank, tree in enumerate(parse.n_best, 1):
        block = tree.to_conllu()
        assert f"# parse_rank = {rank}\n# parse_score = " in block
        assert block.count("# parse_probability = 0.") == 1
        assert block.count("\n1\t") == 1
    plain = "".join(line for line in parse.to_conllu().splitlines(True) if not line.startswith("# parse_"))
    assert plain.encode() == parse.to_sentence().to_bytes()


def test_parsing_the_output_again_replaces_the_comments(parser: Parser, tmp_path: Path) -> None:
    [given] = list(read_conllu(DATA / "multiword.conllu"))[:1]
    [parse] = parser.parse([given], beam=4, n_best=2)
    (tmp_path / "out.conllu").write_text(parse.n_best[1].to_conllu(), encoding="utf-8")
    [again] = parser.parse(read_conllu(tmp_path / "out.conllu"), beam=4)
    assert again.to_conllu().count("# parse_rank") == 1
    assert "# parse_rank = 1\n" in again.to_conllu()


def test_json_has_the_alternatives(parser: Parser) -> None:
    [parse] = parser.parse(SENTENCES[:1], beam=4, n_best=3)
    found = parse.to_dict()
    assert found["rank"] == 1
    assert [each["rank"] for each in found["alternatives"]] == [2, 3]
    assert all(each.keys() == found.keys() - {"alternatives"} for each in found["alternatives"])
    [plain] = parser.parse(SENTENCES[:1])
    assert plain.to_dict().keys() == {"confidence", "words"}


def test_pickled_parses_keep_their_alternatives(parser: Parser) -> None:
    [parse] = parser.parse(SENTENCES[:1], beam=4, n_best=3)
    again = pickle.loads(pickle.dumps(parse))
    assert again == parse
    assert again.n_best == parse.n_best
    assert [tree.ranking for tree in again.n_best] == [tree.ranking for tree in parse.n_best]
    assert again.to_dict() == parse.to_dict()


def test_a_text_with_an_ambiguous_attachment(english: Parser) -> None:
    document = english("I saw the man with the telescope. It rained.", beam=8, n_best=4)
    for parse in document:
        assert_ranked(parse, 4)
    assert {tree.heads[6] for tree in document[0].n_best} >= {2, 4}
    blocks = document.to_conllu(name="it").split("\n\n")
    assert [block.count("# newdoc") for block in blocks[:2]] == [1, 0]
    assert all("# sent_id = it-1\n" in block for block in blocks[:4])
    again = pickle.loads(pickle.dumps(document))
    assert [parse.n_best for parse in again] == [parse.n_best for parse in document]


def test_trees_stay_different_after_rules_have_changed_them(english: Parser) -> None:
    sentences = [sentence.forms for sentence in read_conllu(DATA / "windows.conllu")][:8]
    for parse in english.parse(sentences, beam=8, n_best=8):
        assert_ranked(parse, 8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"beam": 0}, "beam is 0; it must be from 1 to 64"),
        ({"beam": 65}, "beam is 65; it must be from 1 to 64"),
        ({"beam": True}, "beam is of type bool"),
        ({"beam": 2.0}, "beam is of type float"),
        ({"n_best": 0}, "n_best is 0; it must be at least 1"),
        ({"n_best": 5}, "n_best is 5, but a beam of 1 finds at most 1 tree; raise beam to 5 or more"),
        ({"beam": 4, "n_best": 5}, "a beam of 4 finds at most 4 trees"),
        ({"beam": 2, "constraints": lambda sentence: None}, "constraints restrict the greedy parser only"),
    ],
)
def test_what_cannot_be_is_refused(parser: Parser, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parser.parse(SENTENCES, **given)
    with pytest.raises(ConfigError, match=message):
        parser.pipe(SENTENCES, **given)
