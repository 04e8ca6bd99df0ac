"""Parse a text a few sentences at a time and draw the trees. The worker of the page runs this file under Pyodide."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import easyfirst
from easyfirst.confidence.estimates import rounded
from easyfirst.render.bands import per_cent
from easyfirst.render.html import draw_section, page_script, page_style
from easyfirst.text.language import warning_of

WORDS_AT_ONCE = 60  # more are a little faster, and fewer show the first trees earlier
nlp = easyfirst.load("en")


def look() -> str:
    """Return the style sheet of the trees, the script of their sliders and the version, as JSON."""
    return json.dumps({"style": page_style(), "script": page_script(), "version": easyfirst.__version__})


def parse(text: str, width: int) -> Iterator[str]:
    """Parse a text, and yield messages to the page as JSON. ``width`` is that of the pictures in pixels."""
    try:
        yield from map(json.dumps, _messages(text, max(width, 240)))
    except easyfirst.EasyFirstError as error:
        yield json.dumps({"type": "error", "message": f"The text cannot be parsed: {error}."})


def _messages(text: str, width: int) -> Iterator[dict[str, Any]]:
    """Yield the number of sentences, then the trees of some sentences after the other, and then the CoNLL-U."""
    [tokenized] = nlp.tokenize([text])
    sentences = tokenized.sentences()
    problem = nlp.language.problem(nlp.language.count(sentences))
    warning = f"Warning: {warning_of(problem)}." if problem else ""
    yield {"type": "found", "sentences": len(sentences), "words": sum(map(len, sentences)), "warning": warning}
    parses: list[easyfirst.Parse] = []
    for batch in _batches(sentences):
        found = nlp.parse_prepared(list(nlp.prepare(batch)))
        html = "".join(draw(parse, len(parses) + n, width) for n, parse in enumerate(found, 1))
        parses += found
        yield {"type": "trees", "html": html, "sentences": len(parses)}
    document = easyfirst.Document.of(tokenized, iter(parses))
    yield {"type": "done", "conllu": document.to_conllu(confidence=True) if parses else ""}


def draw(parse: easyfirst.Parse, number: int, width: int) -> str:
    """Draw one sentence, with the confidence of the tree in its title and that of the arcs in its picture."""
    title = f"Sentence {number}"
    if confidence := parse.confidence:
        title += f" (confidence {per_cent(rounded(confidence.tree))})"
    return draw_section(replace(parse.drawing(show="upos"), title=title), number, width=width)


def _batches(sentences: list[easyfirst.Sentence]) -> Iterator[list[easyfirst.Sentence]]:
    """Cut a list into batches of so many words or one sentence."""
    batch: list[easyfirst.Sentence] = []
    for sentence in sentences:
        if batch and sum(map(len, batch)) + len(sentence) > WORDS_AT_ONCE:
            yield batch
            batch = []
        batch.append(sentence)
    if batch:
        yield batch
