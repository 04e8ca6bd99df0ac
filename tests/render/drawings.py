"""Sentences to draw: some by hand, and any at all for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from easyfirst.render.drawing import Drawing

FOX = Drawing(
    ["The", "black", "fox", "likes", "apples"],
    [3, 3, 4, 0, 4],
    ["det", "amod", "nsubj", "root", "obj"],
    ["DET", "ADJ", "NOUN", "VERB", "NOUN"],
    confidence=[0.999, 0.93, 0.8, 0.6, 0.25],
    steps=[2, 1, 4, None, 3],
    title="fox-1",
)
HEBREW = Drawing(["הילדה", "קוראת", "(", "ספר", ")"], [2, 0, 4, 2, 4], ["nsubj", "root", "punct", "obj", "punct"])
NASTY = [
    "</text><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "]]>",
    "<!--",
    "&amp;",
    "&#0;",
    "\\",
    '\\"',
    'a"];x->y',
    "\\N",
    "\x00",
    "\x1b[31m",
    "\ud800",
    "\u202e",
    "\u2028",
    "\ufffe",
    "a\tb",
    "a\nb",
    "\r",
    "%",
    "\\end{document}",
    "\\input{/etc/passwd}",
    "}{",
    "$x_1^2$",
    "[a]",
    "|[red]|",
    "a&b",
    "#1",
    "~",
    "``--''",
    "</style>",
    "👩‍🍳",
    "é",
    "狐",
]


def texts() -> st.SearchStrategy[str]:
    """Ordinary and odd texts, also such as no file could hold."""
    codec = st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=8)
    return st.one_of(st.sampled_from(NASTY), codec)


@st.composite
def drawings(draw: st.DrawFn, *, max_words: int = 12, is_plain: bool = False) -> Drawing:
    """Any sentence: not only trees, but all that annotators may leave in a file."""
    n = draw(st.integers(1, max_words))
    text = st.sampled_from(["fox", "a", "likes", "unbelievably"]) if is_plain else texts()
    heads = [draw(st.none() | st.sampled_from([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)]

    def column(values: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
        return st.lists(values, min_size=n, max_size=n)

    return Drawing(
        draw(column(text)),  # type: ignore[arg-type]
        heads,
        draw(column(text)),  # type: ignore[arg-type]
        draw(st.none() | column(text)),  # type: ignore[arg-type]
        draw(st.none() | column(st.none() | st.floats(0, 1))),  # type: ignore[arg-type]
        draw(st.none() | column(st.none() | st.integers(1, 99))),  # type: ignore[arg-type]
        draw(st.none() | text),
        columns=draw(st.none() | st.dictionaries(st.sampled_from(["lemma", "feats"]) | text, column(text), max_size=2)),  # type: ignore[arg-type]
    )
