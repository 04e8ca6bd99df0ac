"""The file of annotated sentences: nothing is lost, whoever is killed and whoever else writes."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from threading import Event, Thread

import pytest

from easyfirst.annotation.records import NUMBER, STATUS, Status
from easyfirst.annotation.store import UNTOUCHED, ChangedError, Store
from easyfirst.errors import DataError
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.tree import check_known_arcs, check_tree
from tests.annotation.corpora import WORDS, conllu, corpus_of, done, partial, save, small_corpus
from tests.kills import kills
from tests.patience import PATIENCE


def test_the_file_has_the_annotated_sentences_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    out, corpus = tmp_path / "out.conllu", small_corpus()
    store = Store(out, corpus)
    assert not out.exists()
    save(store, 4, done(corpus, 4))
    save(store, 1, partial(corpus, 1, 2))
    first, last = read_conllu(out)
    assert (first.metadata[STATUS], last.metadata[STATUS]) == ("partial", "done")
    assert (first.metadata[NUMBER], last.metadata[NUMBER]) == ("1", "4")
    check_known_arcs(first)
    check_tree(last)
    again = Store(out, corpus)
    assert again.progress == store.progress
    assert (again.progress.done, again.progress.partial, again.progress.left) == (1, 1, 3)
    assert again.progress.by == {"anna": 1}
    record = again[1]
    assert record is not None
    assert record.annotation.heads == (None, 1, None)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("rest", ["", "\n# the end\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff", "# before\n\n"])
def test_a_corpus_that_is_done_is_the_input_with_other_trees(
    tmp_path: Path, ending: str, rest: str, begin: str
) -> None:
    data = begin.encode() + conllu(*WORDS, ending=ending) + rest.encode()
    corpus = corpus_of(data)
    store = Store(tmp_path / "out.conllu", corpus)
    for number in (3, 1, 4, 2):
        save(store, number, done(corpus, number))
    written = (tmp_path / "out.conllu").read_bytes()
    lines = [line for line in written.split(b"\n") if not line.startswith(b"# annotation_")]
    expected: list[bytes] = []
    for line in data.split(b"\n"):
        cells = line.split(b"\t")
        if len(cells) == 10:
            is_first = cells[0] == b"1"
            cells[6], cells[7] = (b"0", b"root") if is_first else (b"1", b"dep")
            if is_first:
                cells[9] = cells[9].rstrip(b"\r") + b"|Confirmed=seen" + (b"\r" if ending == "\r\n" else b"")
        expected.append(b"\t".join(cells))
    assert lines == expected


def test_an_end_without_an_empty_line_stays(tmp_path: Path) -> None:
    data = conllu(*WORDS).rstrip(b"\n")
    corpus = corpus_of(data)
    store = Store(tmp_path / "out.conllu", corpus)
    for number in (4, 2):
        save(store, number, done(corpus, number))
    assert len(list(read_conllu(tmp_path / "out.conllu"))) == 2
    assert not (tmp_path / "out.conllu").read_bytes().endswith(b"\n")
    assert Store(tmp_path / "out.conllu", corpus).progress.done == 2


def test_a_save_does_not_overwrite_what_somebody_else_saved(tmp_path: Path) -> None:
    out, corpus = tmp_path / "out.conllu", small_corpus()
    anna, ben = Store(out, corpus), Store(out, corpus)
    revision = anna.save(2, done(corpus, 2), revision=UNTOUCHED)
    ben.save(1, done(corpus, 1, by="ben"), revision=UNTOUCHED)
    with pytest.raises(ChangedError, match="anna has saved sentence 2 since"):
        ben.save(2, done(corpus, 2, by="ben", relation="obj"), revision=UNTOUCHED)
    assert Store(out, corpus).progress.by == {"anna": 1, "ben": 1}
    ben.save(2, done(corpus, 2, by="ben", relation="obj"), revision=revision)
    with pytest.raises(ChangedError, match="ben has saved"):
        anna.save(2, done(corpus, 2), revision=revision)
    anna.refresh()
    record = anna[2]
    assert record is not None
    assert record.annotation.relations[1] == "obj"


def test_a_partial_annotation_without_a_confirmed_word_removes_the_sentence(tmp_path: Path) -> None:
    corpus = small_corpus()
    store = Store(tmp_path / "out.conllu", corpus)
    assert save(store, 2, partial(corpus, 2, 1)) != UNTOUCHED
    assert save(store, 2, partial(corpus, 2)) == UNTOUCHED
    assert store[2] is None
    with pytest.raises(ChangedError, match="was reopened"):
        store.save(2, done(corpus, 2), revision="0123456789abcdef")


def test_sentences_that_are_not_in_the_corpus_stay_as_they_are(tmp_path: Path) -> None:
    out, corpus = tmp_path / "out.conllu", small_corpus()
    store = Store(out, corpus)
    for number in (2, 4):
        save(store, number, done(corpus, number))
    before = out.read_bytes().split(b"\n\n")
    other = Store(out, corpus_of(conllu(("quite", "another"), ("they", "like", "apples"), *WORDS[2:])))
    assert (other.n_strangers, other.progress.done) == (1, 1)
    save(other, 1, done(other.corpus, 1))
    assert set(before) < set(out.read_bytes().split(b"\n\n"))
    assert Store(out, corpus).progress.done == 2


@pytest.mark.parametrize("data", [conllu(*WORDS), b"no CoNLL-U\n"])
def test_a_file_of_something_else_is_not_touched(tmp_path: Path, data: bytes) -> None:
    out = tmp_path / "out.conllu"
    out.write_bytes(data)
    with pytest.raises(DataError, match=r"out\.conllu"):
        Store(out, small_corpus())
    assert out.read_bytes() == data


@pytest.mark.parametrize(
    ("name", "message"),
    [("out.conllu.gz", "leave out .gz"), (".", "this is a directory"), ("no/out.conllu", "make it first")],
)
def test_an_output_that_cannot_be_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Store(tmp_path / name, small_corpus())


def test_a_file_that_vanished_is_written_again(tmp_path: Path) -> None:
    out, corpus = tmp_path / "out.conllu", small_corpus()
    store = Store(out, corpus)
    save(store, 1, done(corpus, 1))
    out.unlink()
    save(store, 2, done(corpus, 2))
    assert Store(out, corpus).progress.done == 2


SAVER = """
import sys
from pathlib import Path
from easyfirst.annotation.store import Store
from tests.annotation.corpora import conllu, corpus_of, done, save
corpus = corpus_of(conllu(*[("a", "b", "c")] * 60))
store = Store(Path(sys.argv[1]), corpus)
for number in range(int(sys.argv[2]), 61, int(sys.argv[3])):
    save(store, number, done(corpus, number, by=sys.argv[4]))
    print(number, flush=True)
"""


def saver(out: Path, start: int, step: int, by: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", SAVER, str(out), str(start), str(step), by]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


def test_processes_that_save_to_one_file_lose_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    processes = [saver(out, start, 3, f"p{start}") for start in (1, 2, 3)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert [sentence.metadata[NUMBER] for sentence in read_conllu(out)] == [str(n) for n in range(1, 61)]
    assert Store(out, corpus_of(conllu(*[("a", "b", "c")] * 60))).progress.by == {"p1": 20, "p2": 20, "p3": 20}


@pytest.mark.parametrize("n_saved", [1, 7, 20])
def test_what_was_saved_survives_a_kill(tmp_path: Path, n_saved: int) -> None:
    out = tmp_path / "out.conllu"
    with saver(out, 1, 1, "anna") as process:
        assert process.stdout is not None
        for _ in range(n_saved):
            process.stdout.readline()
        process.kill()
        rest = process.stdout.read().split()
    store = Store(out, corpus_of(conllu(*[("a", "b", "c")] * 60)))
    assert store.progress.done >= n_saved + len(rest)
    assert all(store.is_done(number) for number in range(1, n_saved + len(rest) + 1))
    save(store, 60, done(store.corpus, 60))
    assert [path.name for path in tmp_path.iterdir()] == ["out.conllu"]
    for sentence in ConlluReader(BytesIO(out.read_bytes()), "out"):
        check_tree(sentence)
        assert Status(sentence.metadata[STATUS]) is Status.done


def test_a_save_that_is_killed_anywhere_loses_nothing(tmp_path: Path) -> None:
    out, corpus = tmp_path / "out.conllu", small_corpus()
    save(Store(out, corpus), 1, done(corpus, 1))
    before = out.read_bytes()
    n_kills = n_saved = 0
    for _ in kills(lambda: save(Store(out, corpus), 2, done(corpus, 2)), tmp_path, lambda: out.write_bytes(before)):
        again = Store(out, corpus)
        assert again.is_done(1)
        n_kills += 1
        n_saved += again.is_done(2)
        assert again.progress.done == len(list(read_conllu(out))) == 1 + again.is_done(2)
    assert 0 < n_saved < n_kills


def test_reading_does_not_wait_for_a_save_that_waits_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "out.conllu", small_corpus())
    is_waiting, is_free = Event(), Event()

    def wait(descriptor: int | None) -> None:
        is_waiting.set()
        is_free.wait()

    monkeypatch.setattr("easyfirst.annotation.store.hold", wait)
    saving = Thread(target=store.refresh)
    saving.start()
    reading = Thread(target=lambda: (store[1], store.progress))
    try:
        assert is_waiting.wait(PATIENCE)
        reading.start()
        reading.join(20)
        assert not reading.is_alive()
    finally:
        is_free.set()
        saving.join()
        reading.join()
