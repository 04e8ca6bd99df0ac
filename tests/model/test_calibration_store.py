"""``confidence.json``: written, read, damaged, and of other weights."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from easyfirst.confidence.calibration import Calibration
from easyfirst.confidence.estimates import confidence_of
from easyfirst.errors import ModelError
from easyfirst.model.calibration_store import load_calibration
from easyfirst.model.card import with_section
from easyfirst.model.card_updates import store_calibration
from easyfirst.model.parser_store import load_parser, save_parser
from easyfirst.parser import load
from tests.calibrations import BY_HAND, FORMAT_1, steps_of
from tests.model.conftest import MakeModel


@pytest.fixture
def place(make_model: MakeModel, tmp_path: Path) -> Path:
    save_parser(tmp_path / "model", replace(make_model(), calibration=BY_HAND))
    return tmp_path / "model"


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    edit(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def test_round_trip(place: Path) -> None:
    assert load_parser(place).calibration == BY_HAND
    assert Calibration.from_dict(json.loads(json.dumps(BY_HAND.to_dict()))) == BY_HAND


def test_a_model_without_one_loads(make_model: MakeModel, tmp_path: Path) -> None:
    save_parser(tmp_path, make_model())
    assert not (tmp_path / "confidence.json").exists()
    assert load_parser(tmp_path).calibration is None


def test_other_weights_do_away_with_it(place: Path, make_model: MakeModel) -> None:
    save_parser(place, make_model(seed=1))
    assert not (place / "confidence.json").exists()


def test_that_of_other_weights_counts_as_none(place: Path, make_model: MakeModel) -> None:
    content = (place / "confidence.json").read_bytes()
    save_parser(place, make_model(seed=1))
    (place / "confidence.json").write_bytes(content)
    assert load_parser(place).calibration is None


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_a_copy_has_it(place: Path, tmp_path: Path, bits: int) -> None:
    load(place).save(tmp_path / "copy", bits=bits)
    assert load_parser(tmp_path / "copy").calibration == BY_HAND


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda v: v.update(format_version=3), "format 3 and this version of easyfirst reads formats up to 2"),
        (lambda v: v.pop("arc"), "must have scales, arc"),
        (lambda v: v.update(more=1), "and nothing else"),
        (lambda v: v["arc"]["weights"].pop(), "arc has 6 weights for 7 features"),
        (lambda v: v["tree"].update(bias="1"), "bias must be a number, not '1'"),
        (lambda v: v["tree"].update(bias=True), "bias must be a number, not True"),
        (lambda v: v["label"].update(weights=3), "weights must be a list of numbers, not 3"),
        (lambda v: v["scales"].update(margins=[3.0, 1.0]), "must rise"),
        (lambda v: v["scales"].update(margins=[]), "must rise"),
        (lambda v: v["scales"].update(rivals=[2.0, 1.0]), "rivals must rise"),
        (lambda v: v["scales"].update(rivals=[]), "arc has 7 weights for 6 features"),
        (lambda v: v["relations"].update(obj=[1.0]), "obj must have two numbers, not 1"),
        (lambda v: v["relations"].update(obj=2), "obj must be a list of numbers, not 2"),
        (lambda v: v.update(relations=[]), "relations must be an object"),
        (lambda v: v.update(format_version=1, scales=[]), "scales must be an object"),
        (lambda v: v["scales"].update(doubt=0), "doubt must be above 0"),
        (lambda v: v.update(root_label=1.5), "root_label a probability"),
        (lambda v: v["fitted_on"].update(words=-1), "words must be a whole number from 0, not -1"),
        (lambda v: v.update(scales=None), "scales must have"),
    ],
)
def test_damage_is_noticed(place: Path, edit: Callable[[dict[str, Any]], object], message: str) -> None:
    change(place / "confidence.json", edit)
    with pytest.raises(ModelError, match=f"confidence.json .*{message}.*delete it"):
        load_parser(place)


def test_format_1_means_what_it_meant(place: Path) -> None:
    """The formulas of the first versions: no rivals that were lost earlier, and no relations."""
    path = place / "confidence.json"
    header = {"kind": "easyfirst-confidence", "format_version": 1}
    header["weights_sha256"] = json.loads(path.read_text(encoding="utf-8"))["weights_sha256"]
    path.write_text(json.dumps(header | FORMAT_1), encoding="utf-8")
    calibration = load_parser(place).calibration
    assert calibration is not None
    found = confidence_of(steps_of((2, 0, 2), [1, 3], [2.0, 0.5], [1.0, 5.0], [0.1, 0.2, 0.3]), calibration)
    doubts = [math.exp(-2 / 1.5), math.exp(-0.5 / 1.5)]
    first = 0.1 + 1.0 + 0.5 * 1.0 - 0.4 * math.log(0.02 + doubts[1]) - 0.3 / 3 + 0.1 * math.log(3)
    second = 0.1 + 0.5 - 0.4 * math.log(0.02 + doubts[0]) - 0.3 * 2 / 3 + 0.1 * math.log(3)
    root = -0.2 + 0.8 * 0.5 - 0.5 * math.log(0.02 + sum(doubts) / 2) + 0.05 * math.log(3)
    arcs = [1 / (1 + math.exp(-x)) for x in (first, root, second)]
    assert found.arcs == pytest.approx(arcs)
    given_arc = [1 / (1 + math.exp(-x)) for x in (0.3 + 0.9 - 0.1 / 3, 0.3 + 1.8 - 0.1 * 2 / 3)]
    assert found.labels == pytest.approx((arcs[0] * given_arc[0], arcs[1] * 0.98, arcs[2] * given_arc[1]))
    load(place).save(place.with_name("copy"))  # in the present format
    assert load_parser(place.with_name("copy")).calibration == calibration


def test_what_is_no_json(place: Path) -> None:
    (place / "confidence.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"confidence\.json is damaged"):
        load_parser(place)


def test_a_file_of_someone_else_stays(place: Path, make_model: MakeModel) -> None:
    (place / "confidence.json").write_text('{"mine": 1}', encoding="utf-8")
    assert load_calibration(place) is None
    with pytest.raises(ModelError, match="is not a calibration of easyfirst"):
        store_calibration(place, BY_HAND, None)
    save_parser(place, make_model())
    assert (place / "confidence.json").read_text(encoding="utf-8") == '{"mine": 1}'


def test_section_of_a_card() -> None:
    card = "# a\n\ntext\n\n## Use\n\nRun it.\n"
    first = with_section(card, "News", ["None."], before="Use")
    assert first == "# a\n\ntext\n\n## News\n\nNone.\n\n## Use\n\nRun it.\n"
    assert with_section(first, "News", ["Some.", "More."], before="Use") == first.replace("None.", "Some.\nMore.")
    last = with_section(card, "News", ["None."], before="Nothing")
    assert last == f"{card}\n## News\n\nNone.\n"
    assert with_section(last, "News", ["None."], before="Nothing") == last
