"""The treebank as the peers see it: words only, and the texts and sentences that are parsed."""

from __future__ import annotations

import json
from pathlib import Path

from bench.peers import treebank
from easyfirst.treebank.conllu import ConlluReader, read_conllu

WITH_RANGES = b"""\
# newdoc id = one
# sent_id = 1
# text = He doesn't, du.
1\tHe\the\tPRON\tPRP\t_\t4\tnsubj\t4:nsubj\t_
2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdoes\tdo\tAUX\tVBZ\t_\t4\taux\t4:aux\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\t_
3.1\tsay\tsay\tVERB\tVB\t_\t_\t_\t0:root\t_
4\t,\t,\tPUNCT\t,\t_\t0\troot\t0:root\t_
5-6\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
5\tde\tde\tADP\tIN\t_\t4\tcase\t_\t_
6\tle\tle\tDET\tDT\tGender=Masc\t4\tdet\t_\tGloss=the
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

"""
STRIPPED = """\
# newdoc id = one
# sent_id = 1
# text = He doesn't, dele.
1\tHe\the\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2\tdoes\tdo\tAUX\tVBZ\t_\t4\taux\t_\tSpaceAfter=No
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\tSpaceAfter=No
4\t,\t,\tPUNCT\t,\t_\t0\troot\t_\t_
5\tde\tde\tADP\tIN\t_\t4\tcase\t_\tSpaceAfter=No
6\tle\tle\tDET\tDT\tGender=Masc\t4\tdet\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

"""


def document(name: str, *lengths: int) -> bytes:
    """Return a document of sentences with these lengths."""
    blocks = [f"# newdoc id = {name}\n"]
    for length in lengths:
        rows = [
            f"{m}\t{name}{m}\t_\tX\t_\t_\t{m - 1}\t{'dep' if m > 1 else 'root'}\t_\t_" for m in range(1, length + 1)
        ]
        blocks.append("\n".join([*rows, "", ""]))
    return "".join(blocks).encode()


def read(content: bytes) -> list[treebank.Sentence]:
    return list(ConlluReader(iter(content.splitlines(keepends=True)), "test"))


def test_ranges_and_empty_nodes_are_stripped() -> None:
    [sentence] = read(WITH_RANGES)
    assert treebank.words_only(sentence).to_bytes().decode() == STRIPPED


def test_what_was_stripped_stays_as_it_is() -> None:
    [sentence] = read(STRIPPED.encode())
    assert treebank.words_only(sentence).to_bytes().decode() == STRIPPED


def test_inputs() -> None:
    sentences = [treebank.words_only(each) for each in read(WITH_RANGES + document("a", 2, 1))]
    inputs = treebank.inputs_of(sentences)
    assert inputs.paragraphs == ["He doesn't, dele.", "a1 a2 a1"]
    assert inputs.texts == ["He doesn't, dele.", "a1 a2", "a1"]
    assert inputs.sentences[1:] == [["a1", "a2"], ["a1"]]
    assert inputs.n_words == 10


def test_a_sample_has_whole_documents_from_everywhere() -> None:
    sentences = read(b"".join(document(name, 5, 5) for name in "abcdefgh"))
    chosen = treebank.sample(sentences, 40)
    names = [sentence.forms[0][0] for sentence in chosen]
    assert sum(map(len, chosen)) == 40
    assert all(names.count(name) == 2 for name in names)
    assert set(names) & set("gh")
    assert treebank.sample(sentences, 10_000) == sentences


def test_files_for_the_workers(tmp_path: Path) -> None:
    for part in treebank.PARTS:
        (tmp_path / f"xx-ud-{part}.conllu").write_bytes(WITH_RANGES + document("a", 2, 1))
    treebank.prepare(tmp_path, tmp_path / "data", n_train=2)
    assert len(list(read_conllu(tmp_path / "data" / "train.conllu"))) == 2
    assert (tmp_path / "data" / "test.txt").read_text(encoding="utf-8") == "He doesn't, dele.\n"
    inputs = json.loads((tmp_path / "data" / "inputs.json").read_text(encoding="utf-8"))
    assert inputs["texts"] == ["He doesn't, dele."]
