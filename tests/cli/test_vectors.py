"""``easyfirst vectors``."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from easyfirst.model.embeddings import Embeddings, read_embeddings
from tests.commands import Run

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TEXT = b"The fox likes 3 apples .\nA dog likes 12 foxes .\nThe dog saw the fox .\n" * 4
NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")


def made(run: Run, path: Path, *arguments: str | Path, stdin: bytes = TEXT) -> Embeddings:
    done = run("vectors", "--dim", "4", "-o", path, *arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return read_embeddings(path)


@NEEDS_TORCH
def test_tokens_from_stdin_or_files(run: Run, tmp_path: Path) -> None:
    done = run("vectors", "--dim", "4", "-o", tmp_path / "a.npz", stdin=TEXT)
    assert b"72 words in the text" in done.stderr
    assert b"warning: 72 words are little text" in done.stderr
    one = read_embeddings(tmp_path / "a.npz")
    assert {"the", "fox", "likes", "<number>"} <= {*one.words}
    assert one.dim == 4
    with gzip.open(tmp_path / "text.gz", "wb") as stream:
        stream.write(TEXT)
    other = made(run, tmp_path / "b.npz", tmp_path / "text.gz", "--quiet", stdin=b"")
    assert other.words == one.words
    np.testing.assert_array_equal(other.vectors, one.vectors)


@NEEDS_TORCH
def test_conllu_and_raw_text(run: Run, tmp_path: Path) -> None:
    from_conllu = made(run, tmp_path / "a.npz", "--from", "conllu", TOY / "dev.conllu")
    assert "the" in from_conllu.words
    text = b"The fox likes apples. It doesn't like foxes.\n\nThe fox isn't here. The fox likes it.\n" * 3
    from_text = made(run, tmp_path / "b.npz", "--from", "text", stdin=text)
    assert {"fox", "n't", "."} <= {*from_text.words}
    by_line = made(run, tmp_path / "c.npz", "--from", "lines", stdin=text)
    assert {*by_line.words} == {*from_text.words}
    near = [vectors.vectors @ vectors.vectors[vectors.words.index(".")] for vectors in (from_text, by_line)]
    assert not np.allclose(near[0], near[1], atol=1e-2)  # in a line, most ends of sentences are in the middle


@NEEDS_TORCH
@pytest.mark.parametrize("source", ["tokens", "text"])
def test_standard_input_that_is_closed(run: Run, tmp_path: Path, source: str) -> None:
    done = run("vectors", "--from", source, "-o", tmp_path / "a.npz", stdin=None)
    assert (done.returncode, done.stderr) == (2, b"error: <stdin>: standard input is closed; name a file\n")


@NEEDS_TORCH
def test_quiet_and_to_a_device(run: Run, tmp_path: Path) -> None:
    (tmp_path / "nothing.npz").symlink_to("/dev/null")
    done = run("vectors", "--dim", "4", "--quiet", "-o", tmp_path / "nothing.npz", stdin=TEXT)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@NEEDS_TORCH
def test_beside_other_vectors_and_used_in_training(run: Run, tmp_path: Path) -> None:
    (tmp_path / "others.txt").write_text("fox 1 0\nzebra 0 3\n", encoding="utf-8")
    found = made(run, tmp_path / "both.npz", "--beside", tmp_path / "others.txt")
    fox, zebra = (found.vectors[found.words.index(word)] for word in ("fox", "zebra"))
    np.testing.assert_allclose(fox[4:], [0.5, 0], atol=1e-3)  # their mean length is two
    np.testing.assert_allclose(zebra, [0, 0, 0, 0, 0, 1.5], atol=1e-3)
    sizes = [f"network.{name}_dim=4" for name in ("word", "tag", "relation", "vector", "tree", "hidden")]
    settings = [part for size in sizes for part in ("--set", size)]
    out = tmp_path / "model"
    train = ("train", TOY / "dev.conllu", "--out", out, "--epochs", "1", "--embeddings", tmp_path / "both.npz")
    done = run(*train, *settings)
    assert done.returncode == 0, done.stderr.decode()
    assert (out / "weights.safetensors").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "vectors.txt"], "vectors.txt: vectors are written as .npz; give the output that suffix"),
        (["-o", "no-such-folder/vectors.npz"], "there is no directory"),
        (["no-such-file.txt", "-o", "vectors.npz"], "no-such-file.txt: there is no such file"),
        (["--beside", "nothing.txt", "-o", "vectors.npz"], "nothing.txt: there is no such file"),
        (["--from", "text", "--model", "no-model", "-o", "vectors.npz"], "no-model"),
        (["-o", "vectors.npz"], "too few for vectors of 100 numbers; take more text, a smaller dim or"),
        ([str(TOY / "dev.conllu"), "-o", "vectors.npz"], "this looks like CoNLL-U; use --from conllu"),
    ],
)
@NEEDS_TORCH
def test_what_can_go_wrong(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("vectors", *arguments, stdin=TEXT)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "vectors.npz").exists()


@NEEDS_TORCH
def test_an_input_is_never_written_over(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_bytes(TEXT)
    for arguments in ([path], ["--beside", path]):
        done = run("vectors", *arguments, "-o", path, stdin=TEXT)
        assert done.returncode == 2
        assert b"this is also an input" in done.stderr
        assert path.read_bytes() == TEXT


def test_an_output_is_needed(run: Run) -> None:
    done = run("vectors", stdin=TEXT)
    assert done.returncode == 2
    assert b"Missing option '--output'" in done.stderr
