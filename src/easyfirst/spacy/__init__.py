"""easyfirst in spaCy: a pipeline component and a tokenizer.

>>> import spacy  # doctest: +SKIP
>>> nlp = spacy.blank("en")  # doctest: +SKIP
>>> component = nlp.add_pipe("easyfirst")  # doctest: +SKIP
>>> [(token.text, token.dep_, token.head.text) for token in nlp("The fox jumps.")][:2]  # doctest: +SKIP
[('The', 'det', 'fox'), ('fox', 'nsubj', 'jumps')]

spaCy finds both by the entry points of this package. It loads all entry points when it is imported itself, so the
parser is imported only when a component or a tokenizer is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from easyfirst.results.spacy_docs.annotations import ANNOTATIONS, DEP
from easyfirst.results.spacy_docs.extensions import require_spacy

require_spacy()

from spacy.language import Language  # noqa: E402 (the line before reports that spaCy is missing)
from spacy.util import registry  # noqa: E402

if TYPE_CHECKING:
    from easyfirst.spacy.component import EasyFirst
    from easyfirst.spacy.tokenizer import EasyFirstTokenizer

FACTORY, TOKENIZER = "easyfirst", "easyfirst.Tokenizer.v1"
_BATCH_SIZE = 256  # that of easyfirst.parsing.engine, which is slow to import


def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    threads: int,
    batch_size: int,
    annotate: list[str],
    overwrite: bool | list[str],
    keep_parses: bool,
) -> EasyFirst:
    """Make the component ``easyfirst`` of a pipeline."""
    from easyfirst.spacy.component import EasyFirst

    return EasyFirst(
        nlp,
        name,
        model=model,
        threads=threads,
        batch_size=batch_size,
        annotate=annotate,
        overwrite=overwrite,
        keep_parses=keep_parses,
    )


def make_tokenizer(
    model: str | None = None,
    threads: int = 1,
    batch_size: int = _BATCH_SIZE,
    parse: bool = True,
    keep_parses: bool = True,
) -> Callable[[Language], EasyFirstTokenizer]:
    """Make the function that makes the tokenizer ``easyfirst.Tokenizer.v1`` of a pipeline."""
    from easyfirst.spacy.tokenizer import EasyFirstTokenizer

    return partial(
        EasyFirstTokenizer, model=model, threads=threads, batch_size=batch_size, parse=parse, keep_parses=keep_parses
    )


# The functions are registered after they are defined, because spaCy loads the entry points again when it registers one.
Language.factory(
    FACTORY,
    func=make_component,
    default_config={
        "model": None,
        "threads": 1,
        "batch_size": _BATCH_SIZE,
        "annotate": list(ANNOTATIONS),
        "overwrite": [DEP],
        "keep_parses": True,
    },
    assigns=[
        *("token.head", "token.dep", "token.tag", "token.pos", "token.morph", "token.lemma", "token.is_sent_start"),
        *("doc.sents", "doc._.easyfirst", "token._.arc_confidence", "token._.label_confidence"),
    ],
    default_score_weights={
        **{"dep_uas": 0.5, "dep_las": 0.5, "sents_f": 0.0},
        **{"tag_acc": 0.0, "pos_acc": 0.0, "morph_acc": 0.0, "lemma_acc": 0.0},
    },
)
registry.tokenizers.register(TOKENIZER, func=make_tokenizer)
