"""A card tells what a model is, what it learned from, how well it parses, and how to use it."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from easyfirst.model.card import CardFacts, DataFacts, languages_in, licence_in, with_fact, with_title, write_card
from easyfirst.model.parser_config import preset
from easyfirst.treebank.scores import Scorer


@pytest.fixture
def facts() -> CardFacts:
    scorer = Scorer()
    scorer.add(
        ["He", "left", "."],
        gold_heads=[2, 0, 2],
        gold_relations=["nsubj:pass", "root", "punct"],
        system_heads=[2, 0, 1],
        system_relations=["nsubj", "root", "punct"],
    )
    return CardFacts(
        name="my-model",
        date=datetime.date(2024, 2, 29),
        easyfirst_version="0.1.0",
        config=preset("htlstm", network={"tags": "both"}, training={"epochs": 7}),
        data=[
            DataFacts(use="training", file="data/train.conllu", sentences=12544, words=204585, note="12 skipped"),
            DataFacts(use="development", file="dev|x.conllu", sentences=2001, words=25147),
            DataFacts(use="word vectors", file="/vectors/en.npz", words=100_000, note="frozen"),
        ],
        scores=scorer.scores(),
        best_epoch=5,
        licence="CC BY-SA 4.0",
    )


def test_the_card_names_model_date_version_and_licence(facts: CardFacts) -> None:
    card = write_card(facts)
    assert card.startswith("# my-model\n")
    assert "- Trained: 2024-02-29, with easyfirst 0.1.0\n- Licence: CC BY-SA 4.0\n" in card
    assert "It reads words, UPOS and XPOS; preset `htlstm`" in card
    assert card.endswith("|\n")


def test_a_licence_that_is_not_given_is_called_so(facts: CardFacts) -> None:
    card = write_card(dataclasses.replace(facts, licence=None))
    assert "- Licence: not stated (set it with --licence)\n" in card


def test_files_are_named_without_directories(facts: CardFacts) -> None:
    card = write_card(facts)
    assert "| training | `train.conllu` | 12,544 | 204,585 | 12 skipped |" in card
    assert "| development | `dev\\|x.conllu` | 2,001 | 25,147 |  |" in card
    assert "| word vectors | `en.npz` |  | 100,000 | frozen |" in card


def test_scores_are_given_in_all_conventions(facts: CardFacts) -> None:
    card = write_card(facts)
    assert "on the development data, after epoch 5." in card
    assert "(as the CoNLL 2018 scorer) | 66.67 | 66.67 | 3 |" in card
    assert "(as the paper) | 100.00 | 50.00 | 2 |" in card
    assert "(selects the model) | 66.67 | 33.33 | 3 |" in card


def test_a_model_without_development_data_has_no_scores(facts: CardFacts) -> None:
    card = write_card(dataclasses.replace(facts, scores=None, best_epoch=None))
    assert "Not measured: there was no development data." in card
    assert "UAS" not in card


def test_an_epoch_that_is_not_known_is_left_out(facts: CardFacts) -> None:
    assert "on the development data. " in write_card(dataclasses.replace(facts, best_epoch=None))


def test_settings_are_listed(facts: CardFacts) -> None:
    card = write_card(facts)
    assert "| `bilstm_layers` | 0 |" in card
    assert "| `epochs` | 7 |" in card


@pytest.mark.parametrize(("name", "written"), [("my-model", "my-model"), ("my model", '"my model"')])
def test_the_commands_use_the_models_name(facts: CardFacts, name: str, written: str) -> None:
    card = write_card(dataclasses.replace(facts, name=name))
    commands = card.split("```\n")[1].splitlines()
    assert commands == [
        f"easyfirst parse --model {written} input.conllu -o output.conllu",
        f"easyfirst evaluate gold.conllu --model {written}",
        f"easyfirst info {written}",
    ]


def test_the_same_facts_give_the_same_card(facts: CardFacts) -> None:
    assert write_card(facts) == write_card(facts)


class TestChanges:
    def test_a_fact_is_replaced(self, facts: CardFacts) -> None:
        card = write_card(facts)
        changed = with_fact(card, "Licence", "MIT | \\1 or\nlater")
        assert licence_in(changed) == "MIT \\| \\1 or later"
        assert [line for line in changed.splitlines() if line not in card.splitlines()] == [
            "- Licence: MIT \\| \\1 or later"
        ]

    def test_a_fact_is_added_to_the_list(self, facts: CardFacts) -> None:
        changed = with_fact(write_card(facts), "Languages", "pt, gl")
        assert "- Languages: pt, gl\n\n## Data" in changed.replace("\n\n\n", "\n\n")
        assert languages_in(changed) == ("pt", "gl")

    @pytest.mark.parametrize("card", ["", "# x\n", "# x\n\nText.\n", "# x\n\n## Data\n\n- Licence: of the data\n"])
    def test_a_fact_is_added_to_any_card(self, card: str) -> None:
        changed = with_fact(card, "Languages", "pt")
        assert languages_in(changed) == ("pt",)
        assert changed.replace("- Languages: pt", "").split() == card.split()

    def test_the_title(self, facts: CardFacts) -> None:
        card = write_card(facts)
        assert with_title(card, "new").splitlines() == ["# new", *card.splitlines()[1:]]
        assert with_title("Text.\n", "new") == "# new\n\nText.\n"
        assert with_title("", "new").strip() == "# new"

    @pytest.mark.parametrize(
        ("file", "expected"),
        [("pt_bosque-ud-train.conllu", ("pt",)), ("grc_proiel-ud-train.conllu.gz", ("grc",)), ("my_train.conllu", ())],
    )
    def test_the_language_in_the_name_of_a_treebank(
        self, facts: CardFacts, file: str, expected: tuple[str, ...]
    ) -> None:
        data = [DataFacts(use="training", file=f"folder/{file}", sentences=1, words=2)]
        data.append(DataFacts(use="development", file="en_ewt-ud-dev.conllu", sentences=1, words=2))
        assert languages_in(write_card(dataclasses.replace(facts, data=data))) == expected
