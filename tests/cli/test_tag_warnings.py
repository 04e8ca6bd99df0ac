"""What ``easyfirst parse`` says about given tags that the model does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from easyfirst.parser import Parser
from tests.commands import Run
from tests.small_models import small_model, small_tagger

PREDICTED = "it predicts them instead"
IN_PART = "it predicts {} of these instead. To predict all tags, use --predicted-tags"
GUESS = "are they of another tagset than its treebank's?"
ADVICE = " To predict them instead, use --predicted-tags"


def rows(*tags: str, column: int = 4) -> bytes:
    """Return a sentence with these XPOS, or values of another column."""
    cells = [[str(n), "fox", "_", "NOUN", "NN", "_", "_", "_", "_", "_"] for n in range(1, len(tags) + 1)]
    for row, tag in zip(cells, tags, strict=True):
        row[column] = tag
    return ("\n".join("\t".join(row) for row in cells) + "\n\n").encode()


def warnings_of(run: Run, model: Path, content: bytes, *options: str) -> list[str]:
    done = run("parse", "-m", model, *options, stdin=content)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.decode().splitlines() if line.startswith("warning")]


def test_counts_in_the_singular(run: Run, text_model: Path) -> None:
    assert b"parsed 1 sentence, 1 word in" in run("parse", "-m", text_model, stdin=rows("NN")).stderr


@pytest.mark.parametrize(
    ("sentences", "share", "hint"),
    [
        ([("XX", "YY")], "100%", PREDICTED),
        ([("XX", "YY"), ("NN", "NN", "NN")], "40%", PREDICTED),  # the second sentence keeps its tags
        ([("NN", "XX")], "50%", GUESS + ADVICE),
        ([("NN", "XX"), ("YY", "ZZ")], "75%", IN_PART.format("67%")),
        ([("_", "_"), ("_", "XX")], "50%", PREDICTED),  # the first has no tags
        ([("NN", "NN"), ("XX", "NN")], None, ""),
        ([("_", "_")], None, ""),
    ],
)
def test_they_are_counted_by_sentence(
    run: Run, text_model: Path, sentences: list[tuple[str, ...]], share: str | None, hint: str
) -> None:
    content = b"".join(rows(*tags) for tags in sentences)
    found = warnings_of(run, text_model, content)
    assert found == ([f"warning: {share} of the XPOS tags are unknown to the model; {hint}"] if share else [])
    assert not warnings_of(run, text_model, content, "--predicted-tags")


def test_tags_that_only_the_tagger_knows(run: Run, tmp_path: Path) -> None:
    """They are replaced, because the parser has never seen them, and the warning agrees."""
    parser = Parser(small_model("both"), tagger=small_tagger())
    assert parser.tagger is not None
    parser.tagger.model.vocabulary.outputs["xpos"] = [*parser.tagger.model.vocabulary.outputs["xpos"][:-1], "XX"]  # pyright: ignore[reportIndexIssue]
    parser.save(tmp_path / "m")
    assert warnings_of(run, tmp_path / "m", rows("XX", "XX", "XX"))[0].endswith(PREDICTED)


def test_universal_tags_are_known(run: Run, text_model: Path) -> None:
    assert not warnings_of(run, text_model, rows("SYM", "X", "INTJ", column=3))


def test_features_of_another_set(run: Run, whole_model: Path) -> None:
    [found] = warnings_of(run, whole_model, rows("Foo=Bar", "Foo=Baz", column=5))
    hint = f"are they of another set of features than its treebank's?{ADVICE}"
    assert found == f"warning: 100% of the FEATS values are unknown to the model; {hint}"


def test_without_a_tagger(run: Run, xpos_model: Path) -> None:
    [found] = warnings_of(run, xpos_model, rows("XX"))
    assert found.endswith(f"; {GUESS}")


def test_files_of_a_corpus_are_counted_together(run: Run, text_model: Path, tmp_path: Path) -> None:
    for name, tags in (("a", ("NN", "XX")), ("b", ("YY", "ZZ"))):
        (tmp_path / f"{name}.conllu").write_bytes(rows(*tags))
    done = run("parse", "-m", text_model, tmp_path / "a.conllu", tmp_path / "b.conllu", "-d", tmp_path / "out")
    assert IN_PART.format("67%").encode() in done.stderr
