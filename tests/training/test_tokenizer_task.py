"""Training a tokenizer."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from easyfirst.errors import DataError
from easyfirst.model.tokenizer_config import TokenizerConfig, TokenizerTraining
from easyfirst.model.tokenizer_store import load_tokenizer
from easyfirst.model.tokenizer_vocabulary import LINE_END, TokenizerVocabulary
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.tokenizer_network import INSIDE, REWRITTEN, SENTENCE_END, TOKEN_END, WORD_END
from easyfirst.text.tokenizing import Tokenizer
from easyfirst.training import tokenizer_task as module
from easyfirst.training.tokenizer_task import TokenizerCorpus, TokenizerTask
from easyfirst.training.training_loop import Silent, TrainingLoop
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.raw_text import Paragraph, Token, read_paragraphs
from easyfirst.treebank.sentence import Sentence

NETWORK = TokenizerConfig(character_dim=8, hidden_dim=12, token_dim=8, min_count=1)
TRAINING = TokenizerTraining(augmentation=0)
NAMES = ["Ann", "Bob", "Cid", "Dora"]
VERBS = ["sees", "hears", "likes"]


def sentence_of(tokens: list[str], *, newpar: bool = False) -> str:
    """Tokens: "form", "form=word+word" or either after "~", which says that there is no space before it."""
    rows = ["# newpar\n"] * newpar
    n = 0
    for token, after in zip(tokens, [*tokens[1:], ""], strict=True):
        form, _, parts = token.lstrip("~").partition("=")
        words = parts.split("+") if parts else [form]
        misc = "SpaceAfter=No" if after.startswith("~") else "_"
        if parts:
            rows.append(f"{n + 1}-{n + len(words)}\t{form}" + "\t_" * 7 + f"\t{misc}\n")
        for word in words:
            n += 1
            rows.append(f"{n}\t{word}" + "\t_" * 7 + f"\t{'_' if parts else misc}\n")
    return "".join(rows) + "\n"


def treebank(n: int, seed: int) -> list[Sentence]:
    """Sentences of a small language: "Ann sees Bob's dog." with a token of two words, "del" with two others."""
    rng = np.random.default_rng(seed)
    text = ""
    for _ in range(n):
        name, other, third = rng.choice(NAMES, 3)
        tokens = [name, str(rng.choice(VERBS)), f"{other}'s={other}+'s", "dog"]
        tokens += [["del=de+el", third], ["~,", third], []][rng.integers(3)]
        text += sentence_of([*tokens, "~" + str(rng.choice([".", "!"]))], newpar=bool(rng.random() < 0.3))
    return list(ConlluReader(io.BytesIO(text.encode()), "x.conllu"))


def test_a_corpus_says_what_each_character_and_token_is() -> None:
    sentences = [[Token(0, 4, ("a", "b's")), Token(4, 5, (".",))], [Token(6, 9, ("de", "el"))]]
    paragraphs = [Paragraph("ab's. del", tuple(map(tuple, sentences))), Paragraph("C", ((Token(0, 1, ("C",)),),))]
    corpus = TokenizerCorpus.of(paragraphs, TokenizerVocabulary.of(paragraphs, min_count=1))
    expected = [WORD_END, INSIDE, INSIDE, TOKEN_END, TOKEN_END, INSIDE, INSIDE, INSIDE, TOKEN_END, INSIDE, TOKEN_END]
    assert corpus.boundaries.tolist() == expected
    assert corpus.first.tolist() == [0, 4, 6, 10]
    assert corpus.last.tolist() == [3, 4, 8, 10]
    assert corpus.answers[:, SENTENCE_END].tolist() == [0, 1, 1, 1]
    assert corpus.answers[:, REWRITTEN].tolist() == [0, 0, 1, 0]
    assert corpus.is_paragraph_end.tolist() == [False, False, True, True]
    assert np.flatnonzero(corpus.is_apostrophe).tolist() == [2]


@pytest.mark.parametrize(
    ("text", "words", "left_out"),
    [
        ("it's", ("it", "'s"), [2]),
        ("don\N{RIGHT SINGLE QUOTATION MARK}t", ("do", "n\N{RIGHT SINGLE QUOTATION MARK}t"), [3]),
        ("'tisn't", ("'t", "is", "n't"), [5]),  # a token's first character stays,
        ("rock'", ("rock", "'"), []),  # its last,
        ("l'an", ("l'", "an"), []),  # a word's last,
        ("it's", ("it's",), []),  # what is in a token of one word,
        ("it's", ("it", "is"), []),  # and what a rule rewrites
    ],
)
def test_apostrophes_that_may_be_left_out(text: str, words: tuple[str, ...], left_out: list[int]) -> None:
    paragraphs = [Paragraph(text, ((Token(0, len(text), words),),))]
    corpus = TokenizerCorpus.of(paragraphs, TokenizerVocabulary.of(paragraphs, min_count=1))
    assert np.flatnonzero(corpus.is_apostrophe).tolist() == left_out


@pytest.mark.parametrize("left_out", [0, 1])
def test_tokens_are_cut_alike_with_and_without_apostrophes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: int
) -> None:
    monkeypatch.setattr(module, "LEFT_OUT_PROB", left_out)
    monkeypatch.setattr(module, "UNKNOWN_PROB", 0)
    monkeypatch.setattr(module, "VERSION_PROBS", (1, 0, 0))
    monkeypatch.setattr(module, "BATCH_CHARACTERS", 300)
    sentences = treebank(40, 1)
    task = TokenizerTask(sentences, NETWORK, TRAINING)
    alphabet = {int(task.vocabulary.read([c]).rows[0]): c for c in {c for s in sentences for f in s.forms for c in f}}
    found: list[str] = []
    for batch in task.batches(np.random.default_rng(1)):
        labels = np.zeros(sum(batch.lengths), dtype=np.int64)
        labels[batch.rows] = batch.boundaries.numpy()
        assert batch.lengths == sorted(batch.lengths, reverse=True)
        for first, last in zip(batch.first, batch.last, strict=True):
            cuts = ["|" if label == WORD_END else "" for label in labels[first : last + 1]]
            characters = [alphabet[row] for row in batch.characters[first : last + 1]]
            found.append("".join(c + cut for c, cut in zip(characters, cuts, strict=True)))
    names = [form + "|'s" for s in sentences for form, after in pairwise(s.forms) if after == "'s"]
    expected = [name.replace("'", "") if left_out else name for name in names]
    assert sorted(token for token in found if "|" in token) == sorted(expected)


def test_stretches_are_the_corpus_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_STRETCH", 60)
    monkeypatch.setattr(module, "BATCH_CHARACTERS", 300)
    task = TokenizerTask(treebank(40, 1), NETWORK, TRAINING)
    corpus = task._corpus
    stretches = list(corpus.stretches(np.random.default_rng(3)))
    assert [token for _, begin, end in stretches for token in range(begin, end)] == list(range(len(corpus.first)))
    assert max(corpus.last[end - 1] - corpus.first[begin] for _, begin, end in stretches) < 60 + 10
    batches = list(task.batches(np.random.default_rng(3)))
    assert sum(len(batch.first) for batch in batches) == len(corpus.first)
    assert sum(batch.answers[:, SENTENCE_END].sum() for batch in batches) == 40
    for batch in batches:
        labels = np.zeros(sum(batch.lengths), dtype=np.int64)
        labels[batch.rows] = batch.boundaries.numpy()
        assert (labels[batch.last] == TOKEN_END).all()
        assert np.count_nonzero(labels == TOKEN_END) == len(batch.last)
        assert (batch.first <= batch.last).all()
        assert sum(batch.n_tokens) == len(batch.first)


@pytest.mark.parametrize("share", [0, 0.5])
def test_chance_is_in_the_generator_only(share: float) -> None:
    task = TokenizerTask(treebank(30, 1), NETWORK, TokenizerTraining(augmentation=share))
    one, same, other = (list(task.batches(np.random.default_rng(seed))) for seed in (1, 1, 2))
    assert all(np.array_equal(a.characters, b.characters) for a, b in zip(one, same, strict=True))
    assert not all(np.array_equal(a.characters, b.characters) for a, b in zip(one, other, strict=False))


def test_augmented_paragraphs_are_added() -> None:
    sentences = treebank(40, 1)
    n_tokens = [
        sum(len(batch.first) for batch in task.batches(np.random.default_rng(1)))
        for task in (TokenizerTask(sentences, NETWORK, TokenizerTraining(augmentation=share)) for share in (0, 0.5, 1))
    ]
    assert n_tokens[0] < n_tokens[1] < n_tokens[2]


def test_paragraphs_are_joined_by_spaces_or_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNKNOWN_PROB", 0)
    monkeypatch.setattr(module, "JOIN_PROB", 1)
    monkeypatch.setattr(module, "MAX_STRETCH", 10_000)
    task = TokenizerTask(treebank(40, 1), NETWORK, TRAINING)
    line_end = task.vocabulary.alphabet[LINE_END]
    n_found = 0
    for prob in (0, 1):
        monkeypatch.setattr(module, "LINE_END_PROB", prob)
        for batch in task.batches(np.random.default_rng(1)):
            rows = np.flatnonzero(batch.characters == line_end)
            n_found += len(rows)
            assert set(rows.tolist()) <= {int(last) + 1 for last in batch.last[batch.answers[:, SENTENCE_END] == 1]}
        assert bool(n_found) == bool(prob)


def test_the_loss_does_not_depend_on_how_a_batch_is_packed(tmp_path: Path) -> None:
    task = TokenizerTask(treebank(12, 1), NETWORK, TRAINING)
    parameters = {name: torch.from_numpy(array) for name, array in task.arrays.items()}
    stretches = list(task._corpus.stretches(np.random.default_rng(1)))
    total, n_decisions = 0.0, 0
    with overflow_is_fine(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "UNKNOWN_PROB", 0)
        patch.setattr(module, "LEFT_OUT_PROB", 0)
        patch.setattr(module, "LINE_END_PROB", 0)
        patch.setattr(module, "VERSION_PROBS", (1, 0, 0))
        for stretch in stretches:
            loss, n = task.loss(parameters, task._batch([stretch], np.random.default_rng(1)), lambda x: x)
            total, n_decisions = total + loss.item(), n_decisions + n
        together, n = task.loss(parameters, task._batch(stretches, np.random.default_rng(1)), lambda x: x)
    assert n == n_decisions
    assert together.item() == pytest.approx(total, rel=1e-4)


def test_it_learns_a_small_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_BATCH_CHARACTERS", 200)
    monkeypatch.setattr(module, "MAX_STRETCH", 80)
    training = TokenizerTraining(augmentation=0, epochs=8, learning_rate=0.03, dropout=0.1, averaging=0.9)
    task = TokenizerTask(treebank(100, 1), NETWORK, training, dev=treebank(20, 2), out=tmp_path / "tokenizer")
    history = TrainingLoop(task, tmp_path / "run").run(Silent())
    assert max(metrics["dev"]["words"] for metrics in history) > 99
    assert max(metrics["dev"]["sentences"] for metrics in history) > 90
    tokenizer = Tokenizer(load_tokenizer(tmp_path / "tokenizer"))
    (sentence,) = tokenizer.tokenize("Bob hears Dora's dog del Cid!")
    assert [token.words for token in sentence] == [
        ("Bob",),
        ("hears",),
        ("Dora", "'s"),
        ("dog",),
        ("de", "el"),
        ("Cid",),
        ("!",),
    ]


@pytest.mark.parametrize("share", [0, 0.5])
def test_a_resumed_run_is_the_same_run(tmp_path: Path, share: float) -> None:
    def task(name: str) -> TokenizerTask:
        training = TokenizerTraining(augmentation=share, epochs=2)
        return TokenizerTask(treebank(20, 1), NETWORK, training, dev=treebank(5, 2), out=tmp_path / name)

    class Stop(Exception):  # noqa: N818 (it stops a run and is no error)
        pass

    class Impatient(Silent):
        def epoch_end(self, metrics: dict[str, object], *, is_best: bool) -> None:
            raise Stop

    TrainingLoop(task("whole"), tmp_path / "a").run(Silent())
    with pytest.raises(Stop):
        TrainingLoop(task("parts"), tmp_path / "b").run(Impatient())
    TrainingLoop(task("parts"), tmp_path / "b", resume=True).run(Silent())
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "parts")]
    assert weights[0] == weights[1]


def test_without_dev_data_there_are_no_scores(tmp_path: Path) -> None:
    task = TokenizerTask(treebank(3, 1), NETWORK, TRAINING)
    assert task.evaluate(task.arrays) is None


def test_a_language_without_spaces(tmp_path: Path) -> None:
    rows = "".join(sentence_of(["看似", "簡單", "。"]) for _ in range(3))
    sentences = list(ConlluReader(io.BytesIO(rows.encode()), "x.conllu"))
    task = TokenizerTask(sentences, NETWORK, TRAINING, dev=sentences)
    assert read_paragraphs(sentences, spaces="none")[0].text == "看似簡單。" * 3
    scores = task.evaluate(task.arrays)
    assert scores is not None
    assert set(scores) == {"mean", "tokens", "words", "sentences"}
    with pytest.raises(DataError, match="no sentences"):
        TokenizerTask([], NETWORK, TRAINING)
