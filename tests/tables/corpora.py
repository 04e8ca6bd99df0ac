"""CoNLL-U as tools write it: canonical, with all that a row has a column for."""

from __future__ import annotations

import io

from hypothesis import strategies as st

from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence

FORMS = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=6)
CELLS = st.one_of(st.just("_"), FORMS.filter(lambda cell: cell != "_"))
COMMENTS = st.sampled_from(["# newpar", "# newdoc id = d 1", "# newdoc", "#", "# genre = news", "# sent_id", "#a=b=c"])


def read(raw: bytes) -> tuple[list[Sentence], bytes]:
    """Return the sentences of a file, and the bytes after them."""
    reader = ConlluReader(io.BytesIO(raw), "x.conllu")
    return list(reader), reader.trailer


@st.composite
def canonical_sentences(draw: st.DrawFn, number: int = 1) -> str:
    """A sentence with metadata, positions, confidence, multiword tokens and empty nodes, and Unix line ends."""
    n = draw(st.integers(1, 5))
    lines = draw(st.lists(COMMENTS.filter(lambda comment: comment != "# sent_id"), max_size=2))
    lines += [f"# sent_id = s{number}"] * draw(st.booleans())
    forms = [draw(FORMS) for _ in range(n)]
    lines += [f"# text = {' '.join(forms)}"] * draw(st.booleans())
    has_places, has_confidence = draw(st.booleans()), draw(st.booleans())
    at, multiword_end = 0, 0

    def misc(form: str) -> str:
        nonlocal at
        parts = draw(st.sampled_from([[], ["SpaceAfter=No"], ["Gloss=a=b", "Typo"]]))
        parts = parts + ["ArcConf=0.9812"] * has_confidence + [f"TokenRange={at}:{at + len(form)}"] * has_places
        at += len(form) + 1
        return "|".join(parts) or "_"

    for m in range(n + 1):
        if m:
            cells = [draw(CELLS) for _ in range(4)]
            head = draw(st.one_of(st.just("_"), st.integers(0, n).map(str)))
            cell = draw(st.sampled_from(["_", "Gloss=x"])) if m <= multiword_end else misc(forms[m - 1])
            lines.append("\t".join([str(m), forms[m - 1], *cells, head, draw(CELLS), draw(CELLS), cell]))
        if draw(st.integers(0, 4)) == 0:
            cells = [draw(CELLS) for _ in range(4)]
            lines.append("\t".join([f"{m}.1", draw(FORMS), *cells, "_", "_", draw(CELLS), draw(CELLS)]))
        if multiword_end <= m < n and draw(st.integers(0, 3)) == 0:
            multiword_end = draw(st.integers(m + 1, n))
            form = "".join(forms[m:multiword_end])
            lines.append("\t".join([f"{m + 1}-{multiword_end}", form, *["_"] * 7, misc(form)]))
    return "\n".join([*lines, "", ""])


@st.composite
def canonical_files(draw: st.DrawFn) -> bytes:
    """A file of such sentences."""
    return "".join(draw(canonical_sentences(number)) for number in range(1, draw(st.integers(1, 4)) + 1)).encode()
