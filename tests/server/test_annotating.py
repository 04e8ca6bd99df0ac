"""Annotation over HTTP, by real processes: who gets which sentence, what is saved, and what a kill leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from easyfirst.annotation.records import BY, STATUS
from easyfirst.parser import Parser
from easyfirst.server.annotating import is_loopback
from easyfirst.training.data import read_treebank
from easyfirst.treebank.conllu import read_conllu
from tests.calibrations import BY_HAND
from tests.commands import Run
from tests.server.annotators import TOKENS, annotating, next_sentence, save
from tests.server.conftest import Server


@pytest.fixture(scope="session")
def sure_model(tmp_path_factory: pytest.TempPathFactory, parser: Parser) -> Path:
    """A model with a calibration."""
    path = tmp_path_factory.mktemp("models") / "sure"
    calibrated = replace(parser.model, calibration=BY_HAND)
    Parser(calibrated, tokenizer=parser.tokenizer, tagger=parser.tagger).save(path)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TOKENS)
    return path


@pytest.fixture(scope="module")
def annotator(tmp_path_factory: pytest.TempPathFactory, sure_model: Path) -> Iterator[Server]:
    """A server for tests that annotate nothing to the end."""
    corpus = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    corpus.write_text(4 * TOKENS)
    with annotating(corpus, corpus.with_suffix(".conllu"), sure_model) as server:
        yield server


def test_sentences_come_in_the_order_of_their_doubt_and_are_saved(corpus: Path, sure_model: Path) -> None:
    out = corpus.with_suffix(".conllu")
    with annotating(corpus, out, sure_model) as server:
        first = next_sentence(server)
        progress = server.ask("GET", "/annotate/progress").json
        assert (progress["done"], progress["total"]) == (0, 3)
        answer = save(server, first)
        assert answer.status == 200
        assert answer.json["progress"]["by"] == {"anna": 1}
        confidences = [first["confidence"]]
        second = next_sentence(server, after=first["number"])
        assert save(server, second, "ben", status="partial", checks={"2": "corrected"}).status == 200
        confidences.append(second["confidence"])
        third = next_sentence(server, after=second["number"])
        confidences.append(third["confidence"])
        assert save(server, third, "ben").status == 200
        assert next_sentence(server)["number"] == second["number"]
        assert server.ask("GET", "/annotate").body.count(b"data-annotation=") == 1
    assert confidences == sorted(confidences)
    saved = read_treebank(out, is_partial=True).sentences  # as training does
    assert [sentence.metadata["sent_id"] for sentence in saved] == ["corpus-1-1", "corpus-1-2", "corpus-1-3"]
    assert sorted(sentence.metadata[BY] for sentence in saved) == ["anna", "ben", "ben"]
    part = saved[second["number"] - 1]
    assert (part.heads[:3], part.metadata[STATUS]) == ((None, 1, None), "partial")
    assert part.heads.count(None) == len(part) - 1


def test_two_annotators_do_not_get_in_the_way_of_each_other(annotator: Server) -> None:
    one, other = next_sentence(annotator, "anna"), next_sentence(annotator, "ben")
    assert one["number"] != other["number"]
    path = f"/annotate/sentences/{one['number']}"
    assert annotator.ask("GET", f"{path}?annotator=ben").json["open_at"] == "anna"
    assert save(annotator, one, "ben").status == 200
    late = save(annotator, one, "anna")
    assert (late.status, late.json["error"].startswith("ben has saved sentence")) == (409, True)
    again = annotator.ask("GET", f"{path}?annotator=anna").json["sentence"]
    assert (again["status"], again["by"]) == ("done", ["ben"])
    assert save(annotator, again, "anna").status == 200


def test_a_sentence_is_completed_under_what_was_confirmed(annotator: Server) -> None:
    sentence = next_sentence(annotator)
    assert save(annotator, sentence, status="partial", checks={"2": "corrected"}).status == 200
    again = annotator.ask("GET", f"/annotate/sentences/{sentence['number']}").json["sentence"]
    assert (again["status"], again["checks"]) == ("partial", {"2": "corrected"})
    assert again["constraints"] == {"heads": {"2": 1}, "relations": {"2": "dep"}, "forbidden": [], "brackets": []}
    free = again["constraints"] | {"relations": {}}  # the small model does not know the relation
    [parse] = annotator.parse({"conllu": again["conllu"], "constraints": [free]}).json["sentences"]
    assert parse["words"][1]["head"] == 1


@pytest.mark.parametrize(
    ("values", "status", "message"),
    [
        ({"status": "finished"}, 422, "it must be done or partial"),
        ({"status": []}, 422, "it must be done or partial"),
        ({"heads": [1, 1]}, 422, "the sentence has 4 words"),
        ({"heads": [2, 1, 1, 0]}, 422, "form a cycle"),
        ({"heads": "0 1 1 1"}, 422, "heads must be a list"),
        ({"heads": [0, 1, 1, True]}, 422, "heads must be a list"),
        ({"heads": [0, 1, 1, 1 << 70]}, 422, "has head"),
        ({"relations": ["root", "a b", "dep", "dep"]}, 422, "without spaces"),
        ({"checks": {"9": "seen"}}, 422, "word 9 is confirmed"),
        ({"checks": {"1": "sure"}}, 422, "seen or corrected"),
        ({"checks": {"1": ["seen"]}}, 422, "seen or corrected"),
        ({"checks": [1]}, 422, "checks must be an object"),
        ({"annotator": "a,b"}, 422, "without commas"),
        ({"annotator": None}, 422, "annotator must be a string"),
        ({"extra": 1}, 422, "unknown key 'extra'"),
        ({"revision": "0"}, 409, "load it again"),
        ({"revision": 7}, 409, "load it again"),
    ],
)
def test_what_cannot_be_saved_is_refused(
    annotator: Server, values: dict[str, object], status: int, message: str
) -> None:
    before = annotator.ask("GET", "/annotate/sentences/11").json["sentence"]
    answer = save(annotator, before, **values)
    assert (answer.status, message in answer.json["error"]) == (status, True), answer.json
    assert annotator.ask("GET", "/annotate/sentences/11").json["sentence"] == before


def test_requests_that_mean_nothing_are_refused(annotator: Server) -> None:
    assert annotator.ask("GET", "/annotate/sentences/13").status == 404
    assert annotator.ask("GET", "/annotate/sentences/one").status == 404
    assert annotator.ask("POST", "/annotate/next", {"annotator": "anna", "after": 99}).status == 422
    assert annotator.ask("POST", "/annotate/next", {"annotator": "anna", "after": True}).status == 422
    assert annotator.ask("POST", "/annotate/next", b"{}", {"Content-Type": "text/plain"}).status == 415
    assert (
        annotator.ask("POST", "/annotate/next", {"annotator": "anna"}, {"Origin": "http://evil.example"}).status == 403
    )


def test_a_page_of_another_site_claims_nothing(annotator: Server) -> None:
    path = "/annotate/sentences/12?annotator={}"
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert annotator.ask("GET", path.format("mallory"), headers=foreign).status == 200
    assert annotator.ask("GET", path.format("anna")).json["open_at"] is None
    assert annotator.ask("GET", path.format("bert")).json["open_at"] == "anna"


def test_everything_that_was_accepted_is_there_after_a_kill(corpus: Path, sure_model: Path) -> None:
    out = corpus.with_suffix(".conllu")
    with annotating(corpus, out, sure_model) as server:
        first = next_sentence(server)
        save(server, first)
        second = next_sentence(server, after=first["number"])
        save(server, second, status="partial", checks={"2": "corrected"})
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    before = out.read_bytes()
    with annotating(corpus, out, sure_model) as server:
        progress = server.ask("GET", "/annotate/progress").json
        assert (progress["done"], progress["partial"], progress["left"]) == (1, 1, 2)
        assert out.read_bytes() == before
        again = server.ask("GET", f"/annotate/sentences/{second['number']}").json["sentence"]
        assert again["checks"] == {"2": "corrected"}
        assert save(server, again).status == 200
        third = next_sentence(server)
        assert save(server, third).status == 200
        assert next_sentence(server) is None
    assert [sentence.metadata[STATUS] for sentence in read_conllu(out)] == ["done"] * 3


def test_two_processes_share_an_output(corpus: Path, sure_model: Path) -> None:
    out = corpus.with_suffix(".conllu")
    with annotating(corpus, out, sure_model) as one, annotating(corpus, out, sure_model) as other:
        mine, theirs = next_sentence(one), next_sentence(other, "ben")
        assert mine["number"] == theirs["number"]
        assert save(one, mine).status == 200
        assert save(other, theirs, "ben").status == 409
        theirs = next_sentence(other, "ben")
        assert theirs["number"] != mine["number"]
        assert save(other, theirs, "ben").status == 200
        assert one.ask("GET", "/annotate/progress").json["by"] == {"anna": 1, "ben": 1}
    assert len(list(read_conllu(out))) == 2


def test_it_says_how_many_annotated_sentences_the_corpus_lacks(corpus: Path, sure_model: Path) -> None:
    out = corpus.with_suffix(".conllu")
    with annotating(corpus, out, sure_model) as server:
        assert save(server, next_sentence(server)).status == 200
    corpus.write_text("Other words .\n")
    options = ["--from", "tokens", "--model", str(sure_model), "--port", "0", "--no-browser"]
    command = [sys.executable, "-m", "easyfirst", "annotate", str(corpus), "--out", str(out), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it is ready
        process.terminate()
        _, errors = process.communicate()
    assert f"{out}: 1 annotated sentence not found in this corpus, and kept" in errors


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
def test_addresses_of_this_machine(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "testclient", ""])
def test_addresses_of_others(address: str) -> None:
    assert not is_loopback(address)


def test_errors_of_the_command(corpus: Path, model: Path, sure_model: Path, run: Run) -> None:
    def error(*arguments: str | Path) -> str:
        done = run("annotate", *arguments, "--port", "0", "--no-browser")
        assert done.returncode == 2
        return done.stderr.decode()

    out = corpus.with_suffix(".conllu")
    message = error(corpus, "--out", out, "--model", model)
    assert "has no calibration" in message
    assert message.endswith(", or use --order given\n")
    assert "this is also an input" in error(corpus, "--out", corpus, "--model", sure_model)
    assert "without commas" in error(corpus, "--out", out, "--model", sure_model, "--annotator", "a,b")
    out.write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert "not written by 'easyfirst annotate'" in error(corpus, "--out", out, "--model", sure_model)
    empty = corpus.with_name("empty.txt")
    empty.write_text("\n")
    assert "no sentences to annotate" in error(empty, "--out", corpus.with_name("new.conllu"), "--model", sure_model)
