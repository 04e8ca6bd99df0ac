"""What training reads: refused with file and line if it will not do, and described if it will."""

from __future__ import annotations

import gzip
import hashlib
import os
import threading
from dataclasses import asdict
from itertools import compress
from pathlib import Path

import pytest

from easyfirst.errors import DataError
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.training.crossing import LiftedSentences
from easyfirst.training.data import Treebank, check_tags_given, describe, read_treebank, trainable
from easyfirst.treebank.sentence import Sentence

DATA = Path(__file__).parent.parent / "data"

FOX = "1\tfoxes\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tjump\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
ONE_WORD = "1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"
CROSSING = "".join(
    f"{m}\t{form}\t_\tX\tY\t_\t{head}\t{relation}\t_\t_\n"
    for m, (form, head, relation) in enumerate([("a", 3, "x"), ("b", 4, "y"), ("c", 0, "root"), ("d", 3, "z")], 1)
)
CROSSING += "\n"


def kept_of(treebank: Treebank) -> list[Sentence]:
    """Return the sentences that a projective parser can learn from."""
    return list(compress(treebank.sentences, trainable(treebank, projective=True)))


def treebank(tmp_path: Path, text: str, name: str = "some.conllu") -> Treebank:
    return read_treebank(written(tmp_path, text, name))


def written(tmp_path: Path, text: str, name: str = "some.conllu") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


class TestRead:
    def test_all_sentences_in_order(self) -> None:
        multiword = read_treebank(DATA / "multiword.conllu")
        assert [len(sentence) for sentence in multiword.sentences] == [6, 10]
        assert multiword.path == str(DATA / "multiword.conllu")

    @pytest.mark.parametrize("name", ["multiword", "nonprojective", "scripts", "windows"])
    def test_the_checksum_is_that_of_the_content(self, tmp_path: Path, name: str) -> None:
        content = (DATA / f"{name}.conllu").read_bytes() + b"\n# the end\n\n"
        plain, packed = tmp_path / "plain.conllu", tmp_path / "packed.conllu.gz"
        plain.write_bytes(content)
        packed.write_bytes(gzip.compress(content))
        assert read_treebank(plain).sha256 == hashlib.sha256(content).hexdigest() == read_treebank(packed).sha256

    @pytest.mark.skipif(os.name == "nt", reason="no named pipes")
    def test_a_pipe_is_read_once(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(FOX,))
        writer.start()
        found = read_treebank(tmp_path / "pipe")
        writer.join()
        assert found.sha256 == hashlib.sha256(FOX.encode()).hexdigest()

    def test_a_comment_counts_too(self, tmp_path: Path) -> None:
        assert treebank(tmp_path, FOX).sha256 != treebank(tmp_path, "# text = foxes jump\n" + FOX).sha256

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            (FOX + FOX.replace("\t0\troot", "\t1\tnsubj"), 4, "no word has HEAD 0"),
            (FOX + "# here\n" + FOX.replace("\t2\tnsubj", "\t0\troot"), 6, "all have HEAD 0; a tree has one root"),
            (FOX + CROSSING.replace("\t3\tx", "\t2\tx").replace("\t4\ty", "\t1\ty"), 4, "1 'a' -> 2 'b' -> 1 'a'"),
            (FOX.replace("\t2\tnsubj", "\t_\t_"), 1, "word 1 'foxes' has no head"),
            (FOX.replace("\tnsubj", "\t_"), 1, "word 1 'foxes' has no relation"),
            (FOX.replace("\t0\t", "\t3\t"), 2, "HEAD is 3 but the sentence has 2 words"),
            (FOX + FOX.replace("\t_\t_\n2", "\t_\n2"), 4, "9 tab-separated columns where CoNLL-U has 10"),
            (FOX.replace("\t", " "), 1, "use single tabs"),
        ],
        ids=["no root", "two roots", "cycle", "no head", "no relation", "head too large", "columns", "spaces"],
    )
    def test_what_is_no_tree(self, tmp_path: Path, text: str, line: int, message: str) -> None:
        path = written(tmp_path, text)
        with pytest.raises(DataError) as caught:
            read_treebank(path)
        assert str(caught.value).startswith(f"{path}:{line}: ")
        assert message in str(caught.value)

    @pytest.mark.parametrize("text", ["", "\n\n", "# nothing but a comment\n"])
    def test_an_empty_file(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(DataError, match=r"some\.conllu: no sentences in this file; give a treebank in CoNLL-U"):
            treebank(tmp_path, text)

    def test_a_file_that_is_not_there_and_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="there is no such file"):
            read_treebank(tmp_path / "missing.conllu")
        with pytest.raises(DataError, match="this is a directory"):
            read_treebank(tmp_path)


class TestTags:
    def test_one_tag_is_enough(self, tmp_path: Path) -> None:
        check_tags_given(treebank(tmp_path, ONE_WORD.replace("INTJ\tUH", "_\t_") + FOX), ["upos", "xpos"])

    def test_no_tags_are_needed(self) -> None:
        check_tags_given(read_treebank(DATA / "scripts.conllu"), [])

    def test_none_at_all(self, tmp_path: Path) -> None:
        scripts = read_treebank(DATA / "scripts.conllu")
        check_tags_given(scripts, ["upos"])
        for kinds in (["xpos"], ["upos", "xpos"]):
            with pytest.raises(
                DataError, match=r"scripts\.conllu: this treebank has no XPOS; choose --tags upos or none"
            ):
                check_tags_given(scripts, kinds)
        untagged = treebank(tmp_path, FOX.replace("NOUN", "_").replace("VERB", "_"))
        with pytest.raises(DataError, match=r"some\.conllu: this treebank has no UPOS; choose --tags xpos or none"):
            check_tags_given(untagged, ["upos"])


class TestProjective:
    def test_the_others_are_left_out(self, tmp_path: Path) -> None:
        kept = kept_of(treebank(tmp_path, CROSSING + FOX + CROSSING + ONE_WORD))
        assert [sentence.forms for sentence in kept] == [("foxes", "jump"), ("Yes",)]

    @pytest.mark.parametrize("text", [CROSSING, ONE_WORD * 3, ONE_WORD + CROSSING])
    def test_nothing_to_learn_from(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(DataError, match=r"some\.conllu: no projective sentence of two words or more"):
            kept_of(treebank(tmp_path, text))

    def test_none_is_left_out_if_crossing_arcs_are_lifted(self, tmp_path: Path) -> None:
        found = treebank(tmp_path, CROSSING + FOX + CROSSING + ONE_WORD)
        assert trainable(found, projective=False) == [True] * 4
        with pytest.raises(DataError, match=r"some\.conllu: no sentence of two words or more"):
            trainable(treebank(tmp_path, ONE_WORD * 3), projective=False)


class TestInPart:
    """Trees of which only a part is known."""

    def partial(self, tmp_path: Path, text: str) -> Treebank:
        return read_treebank(written(tmp_path, text), is_partial=True)

    def test_heads_and_relations_may_be_left_out(self, tmp_path: Path) -> None:
        text = FOX.replace("\t2\tnsubj", "\t_\t_") + FOX.replace("\tnsubj", "\t_") + FOX + FOX.replace("\t0\t", "\t_\t")
        assert len(kept_of(self.partial(tmp_path, text))) == 4

    @pytest.mark.parametrize(
        ("heads", "message"),
        [
            ("_ 3 2", ":2: the heads of these words form a cycle: 2 'w2' -> 3 'w3' -> 2 'w2'"),
            ("0 _ 0", ":3: words 1 'w1' and 3 'w3' all have HEAD 0"),
            ("2 3 2", ":1: no word has HEAD 0"),
        ],
    )
    def test_what_is_known_must_be_of_a_tree(self, tmp_path: Path, heads: str, message: str) -> None:
        with pytest.raises(DataError) as caught:
            self.partial(tmp_path, rows(heads))
        assert message in str(caught.value)

    @pytest.mark.parametrize(
        ("heads", "is_kept"),
        [("_ _ 1 _", True), ("3 4 _ _", False), ("3 _ 0 _", True), ("4 0 _ _", False), ("_ _ _ _", False)],
    )
    def test_known_arcs_must_fit_into_a_projective_tree(self, tmp_path: Path, heads: str, is_kept: bool) -> None:
        kept = kept_of(self.partial(tmp_path, FOX + rows(heads)))
        assert len(kept) == 1 + is_kept

    def test_nothing_to_learn(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"some\.conllu: no word has a HEAD, so there is nothing to learn"):
            kept_of(self.partial(tmp_path, rows("_ _") * 2))
        with pytest.raises(
            DataError, match=r"some\.conllu: no word has a HEAD and a DEPREL, so there are no relations"
        ):
            kept_of(self.partial(tmp_path, FOX.replace("\tnsubj", "\t_")))

    def test_counts(self, tmp_path: Path) -> None:
        train = self.partial(tmp_path, FOX + rows("_ _ 1 _") + rows("_ _") + rows("3 4 _ _"))
        report = describe(
            train, LiftedSentences(kept_of(train)), None, ParserVocabulary.of(kept_of(train), tag_kinds=[])
        )
        assert (report.nothing_known, report.non_projective, report.unknown_heads) == (1, 1, 3)
        assert report.relations == 3  # nsubj, x and root


def rows(heads: str) -> str:
    """A sentence of words with these heads, and relations where they are known."""
    lines = (
        f"{m}\tw{m}\t_\tX\tY\t_\t{head}\t{'_' if head == '_' else 'x' if head != '0' else 'root'}\t_\t_\n"
        for m, head in enumerate(heads.split(), 1)
    )
    return "".join(lines) + "\n"


class TestDescribe:
    def test_counts(self, tmp_path: Path) -> None:
        train = treebank(tmp_path, FOX * 2 + CROSSING + ONE_WORD, "train.conllu")
        dev = treebank(tmp_path, FOX.replace("foxes", "FOXES").replace("jump", "fly") + CROSSING, "dev.conllu")
        vocabulary = ParserVocabulary.of(train.sentences, tag_kinds=[])
        assert asdict(describe(train, LiftedSentences(kept_of(train)), dev, vocabulary)) == {
            "train": str(tmp_path / "train.conllu"),
            "train_sentences": 4,
            "train_words": 9,
            "relations": 5,  # nsubj, x, y, z and root
            "crossing": None,
            "marked_relations": 0,
            "non_projective": 1,
            "non_projective_percent": 25.0,
            "lifted_arcs": 0,
            "restorable_arcs": 0,
            "unknown_heads": 0,
            "nothing_known": 0,
            "dev": str(tmp_path / "dev.conllu"),
            "dev_sentences": 2,
            "dev_words": 6,
            "dev_unknown_percent": pytest.approx(100 / 6),  # "fly"; case does not matter
            "vectors": None,
            "vectors_percent": 0.0,
        }

    def test_words_that_have_a_vector(self, tmp_path: Path) -> None:
        train = treebank(tmp_path, FOX * 2 + CROSSING + ONE_WORD, "train.conllu")
        vocabulary = ParserVocabulary.of(train.sentences, tag_kinds=[], external=["foxes", "jump", "elsewhere"])
        report = describe(train, LiftedSentences(kept_of(train)), None, vocabulary)
        assert (report.vectors, report.vectors_percent) == (3, pytest.approx(400 / 9))

    def test_without_dev(self, tmp_path: Path) -> None:
        train = treebank(tmp_path, FOX)
        report = describe(
            train, LiftedSentences(kept_of(train)), None, ParserVocabulary.of(train.sentences, tag_kinds=[])
        )
        assert (report.dev, report.dev_sentences, report.dev_words, report.dev_unknown_percent) == (None, 0, 0, 0.0)
        assert report.non_projective_percent == 0

    def test_a_root_relation_that_others_have_too_counts_once(self, tmp_path: Path) -> None:
        train = treebank(tmp_path, FOX.replace("nsubj", "root"))
        assert (
            describe(
                train, LiftedSentences(kept_of(train)), None, ParserVocabulary.of(train.sentences, tag_kinds=[])
            ).relations
            == 1
        )
