"""Parser training with all kinds of settings, data and word vectors."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.embeddings import external_table, read_embeddings, scaled
from easyfirst.model.parser_store import load_parser
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.parser import load
from easyfirst.training.data import Job
from easyfirst.treebank.conllu import read_conllu
from tests.training.parser_runs import CHECKPOINT, DATA, TOY, WORDS, Listener, arrays_of, config_of, contents, train


class TestOptions:
    @pytest.mark.parametrize(
        "changes",
        [
            {"name": "bottom-up", "network": {"bilstm_layers": 0, "tree_layers": 0}},
            {"name": "htlstm", "network": {"bilstm_layers": 0, "tree_layers": 2}},
            {"name": "paper", "network": {"bilstm_layers": 2, "tree_layers": 2}},
            {"network": {"rnn": "gru"}},
            {"network": {"rnn": "elman"}},
            {"network": {"tags": "none"}},
            {"network": {"tags": "xpos"}},
            {"network": {"tags": "both", "window": 0}},
            {"use_dynamic_oracle": False},
            {"explore_prob": 1.0, "word_dropout": 0.0},
        ],
        ids=lambda changes: " ".join(f"{key}={value}" for key, value in changes.items()),
    )
    def test_it_trains_and_the_model_parses(self, tmp_path: Path, dev: Path, changes: dict[str, Any]) -> None:
        config = config_of(**{"learning_rate": 0.01} | changes)
        [line] = train(Job(train=TOY, out=tmp_path / "m", dev=dev), config, Listener())
        parser = load(tmp_path / "m", precision="float32", valid=False)
        assert parser.config == config
        assert parser.needs_tags == config.network.tag_kinds
        parses = parser.parse(read_conllu(dev))
        assert all(parse.heads.count(0) == 1 for parse in parses)
        gold = [head for sentence in read_conllu(dev) for head in sentence.heads]
        uas = 100 * np.mean([h == g for h, g in zip((h for p in parses for h in p.heads), gold, strict=True)])
        assert line["dev"]["full"]["UAS"] == pytest.approx(uas, abs=1e-3)

    def test_the_static_oracle_learns_something_else(self, tmp_path: Path) -> None:
        for name, is_dynamic in (("static", False), ("dynamic", True)):
            config = config_of(use_dynamic_oracle=is_dynamic, explore_prob=0.5)
            train(Job(train=TOY, out=tmp_path / name), config, Listener())
        assert arrays_of(tmp_path / "static") != arrays_of(tmp_path / "dynamic")

    def test_it_learns(self, tmp_path: Path) -> None:
        """The sentences it is trained on, nearly by heart."""
        few = tmp_path / "few.conllu"
        few.write_text("\n\n".join(TOY.read_text(encoding="utf-8").split("\n\n")[4:12]) + "\n\n", encoding="utf-8")
        sizes = {"word_dim": 20, "tag_dim": 8, "vector_dim": 32, "tree_dim": 24, "hidden_dim": 24}
        config = config_of(epochs=15, network=sizes, learning_rate=0.02, word_dropout=0.0)
        history = train(Job(train=few, out=tmp_path / "m", dev=few), config, Listener())
        assert max(line["dev"]["full"]["LAS"] for line in history) > 90
        assert history[-1]["violations"] < 0.5 * history[0]["violations"]

    def test_a_dev_set_of_things_never_seen(self, tmp_path: Path) -> None:
        """Words, tags, relations, and trees that cannot be built."""
        listener = Listener()
        job = Job(train=DATA / "multiword.conllu", out=tmp_path / "m", dev=DATA / "nonprojective.conllu")
        [line] = train(job, config_of(), listener)
        assert listener.report is not None
        assert (listener.report.dev_sentences, listener.report.dev_words) == (3, 11)
        assert listener.report.dev_unknown_percent > 50
        assert line["dev"]["full"]["LAS"] < 100

    def test_a_dev_sentence_without_tags(self, tmp_path: Path) -> None:
        """Others have some, so it is not the file that lacks them."""
        mixed = tmp_path / "mixed.conllu"
        content = (DATA / "multiword.conllu").read_bytes()
        mixed.write_bytes(content + b"1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\t!\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n")
        [line] = train(Job(train=TOY, out=tmp_path / "m", dev=mixed), config_of(network={"tags": "both"}), Listener())
        assert line["dev"] is not None


class TestEmbeddings:
    def table(self, vectors: Path) -> np.ndarray:
        return external_table(scaled(read_embeddings(vectors)))

    def trained(self, out: Path, vectors: Path, **training: Any) -> np.ndarray:
        train(Job(train=TOY, out=out, vectors=vectors), config_of(**training), Listener())
        return load_parser(out).arrays["words.external"]

    def test_frozen_ones_stay_as_they_are_in_eight_bits(self, tmp_path: Path, vectors: Path) -> None:
        found = self.trained(tmp_path / "m", vectors, freeze_external=True, epochs=2)
        rounded = SharedVectors.of(scaled(read_embeddings(vectors)))
        assert found.tobytes() == rounded.table.tobytes()
        assert load_parser(tmp_path / "m").vectors is not None
        assert "words.external" not in arrays_of(tmp_path / "m", "weights.safetensors")
        np.testing.assert_allclose(found, self.table(vectors), atol=0.01 * np.abs(found).max())
        assert any("words.embedding" in name for name in arrays_of(tmp_path / "m", CHECKPOINT))
        assert not any("optimizer/words.external" in name for name in arrays_of(tmp_path / "m", CHECKPOINT))

    def test_others_are_trained_where_their_words_occur(self, tmp_path: Path, vectors: Path) -> None:
        before, after = self.table(vectors), self.trained(tmp_path / "m", vectors)
        changed = {("<unknown>", *WORDS)[row] for row in np.flatnonzero((before != after).any(axis=1))}
        assert changed == {"<unknown>", "the", "The", "dog", "bread", "."}

    def test_all_formats_give_the_same_model(self, tmp_path: Path, vectors: Path) -> None:
        packed, arrays = tmp_path / "vectors.txt.gz", tmp_path / "vectors.npz"
        packed.write_bytes(gzip.compress(vectors.read_bytes()))
        read = read_embeddings(vectors)
        np.savez(arrays, words=np.array(read.words), vectors=read.vectors)
        for number, path in enumerate((vectors, packed, arrays)):
            self.trained(tmp_path / str(number), path)
        models = [(tmp_path / str(number) / "weights.safetensors").read_bytes() for number in range(3)]
        assert models[0] == models[1] == models[2]
        card = (tmp_path / "1" / "README.md").read_text(encoding="utf-8")
        assert "| word vectors | `vectors.txt.gz` |  | 6 |" in card

    def test_resuming_needs_the_same(self, tmp_path: Path, vectors: Path) -> None:
        self.trained(tmp_path / "m", vectors)
        before = contents(tmp_path / "m")
        other = tmp_path / "other.txt"
        other.write_text(vectors.read_text().replace("dog", "cat"))
        for path in (other, None):
            with pytest.raises(ConfigError, match=r"the run used different data \(vectors\)"):
                train(Job(train=TOY, out=tmp_path / "m", vectors=path), config_of(epochs=2), Listener(), resume=True)
        assert contents(tmp_path / "m") == before
        vectors.rename(tmp_path / "renamed.txt")
        job = Job(train=TOY, out=tmp_path / "m", vectors=tmp_path / "renamed.txt")
        assert len(train(job, config_of(epochs=2), Listener(), resume=True)) == 2

    def test_bad_ones_stop_it_before_anything_is_written(self, tmp_path: Path, vectors: Path) -> None:
        vectors.write_text("the 1 2 3\ndog 1 2\n")
        for path, message in ((vectors, "vectors.txt:2: 2 numbers"), (tmp_path / "missing", "no such file")):
            with pytest.raises(DataError, match=message):
                train(Job(train=TOY, out=tmp_path / "m", vectors=path), config_of(), Listener())
        assert not (tmp_path / "m").exists()
