"""Which sentence an annotator gets next."""

from __future__ import annotations

from pathlib import Path

from easyfirst.annotation.corpus import Order
from easyfirst.annotation.queue import CLAIMED, Queue
from easyfirst.annotation.store import Store
from tests.annotation.corpora import done, partial, save, small_corpus


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def queue_of(path: Path, clock: Clock | None = None) -> Queue:
    corpus = small_corpus()
    return Queue(Store(path / "out.conllu", corpus), corpus.ordered(Order.doubtful), clock or Clock())


def test_the_most_doubtful_sentence_comes_first(tmp_path: Path) -> None:
    assert small_corpus().ordered(Order.doubtful) == [2, 4, 1, 3]
    assert small_corpus().ordered(Order.given) == [1, 2, 3, 4]
    assert queue_of(tmp_path).next("anna") == 2


def test_sentences_that_are_done_are_left_out_and_skipped_ones_come_last(tmp_path: Path) -> None:
    queue = queue_of(tmp_path)
    save(queue.store, 4, done(queue.store.corpus, 4))
    save(queue.store, 1, partial(queue.store.corpus, 1, 1))
    seen = [queue.next("anna")]
    while len(seen) < 4:
        seen.append(queue.next("anna", after=seen[-1]))
    assert seen == [2, 1, 3, 2]


def test_annotators_get_different_sentences(tmp_path: Path) -> None:
    clock = Clock()
    queue = queue_of(tmp_path, clock)
    assert [queue.next(name) for name in ("anna", "ben", "cleo", "anna", "dan", "eva")] == [2, 4, 1, 2, 3, None]
    assert queue.claim(2, "ben") == "anna"
    assert queue.claim(4, "ben") is None
    queue.release(2, "ben")
    assert queue.next("eva") is None
    queue.release(2, "anna")
    assert queue.next("eva") == 2
    clock.now = CLAIMED + 1
    assert queue.next("fay") == 2


def test_there_is_nothing_left_at_the_end(tmp_path: Path) -> None:
    queue = queue_of(tmp_path)
    for number in range(1, 5):
        save(queue.store, number, done(queue.store.corpus, number))
    assert queue.next("anna") is None
    assert queue.store.progress.left == 0
