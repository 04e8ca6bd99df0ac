"""The result of parsing a sentence: its tree, the derivation, and how sure the parser is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from easyfirst.confidence.calibration import Calibration
from easyfirst.confidence.estimates import Confidence, confidence_of, require_confidence
from easyfirst.constituents.tree import Constituents
from easyfirst.constraints.checking import hold
from easyfirst.constraints.records import Constraints
from easyfirst.meaning.subtrees import SubtreeEncoder, vectors_of
from easyfirst.nn.arrays import Floats
from easyfirst.parsing.derivation import Attachment, Derivation
from easyfirst.parsing.finishing import NOTHING_FIXED, finish
from easyfirst.parsing.validity import Change, Validity, mark_parts
from easyfirst.render.columns import columns_of
from easyfirst.render.drawing import Drawing
from easyfirst.render.notebook import Display
from easyfirst.render.svg import WIDTH, Theme
from easyfirst.render.terminal import draw_tree
from easyfirst.results.constituents import constituents_of
from easyfirst.results.nltk_graphs import nltk_graph
from easyfirst.results.notebook import parse_html, shown
from easyfirst.results.pickling import pack_parse, restore_parse
from easyfirst.results.plain import misc_of, parse_dict
from easyfirst.results.rankings import Ranking
from easyfirst.results.tables import Per, arrow_table, data_frame, parse_row
from easyfirst.treebank.raw_text import text_of
from easyfirst.treebank.sentence import Sentence, Word
from easyfirst.treebank.tree import Tree

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

SHORT = 10  # the words up to which all of a parse is shown


@dataclass(frozen=True, slots=True, repr=False)
class Parse:
    """A sentence and the tree the parser built over it."""

    sentence: Sentence
    """The sentence as it was given; if it had heads and relations, it still has them."""
    heads: tuple[int, ...]
    """The head of each word: its id, counted from 1, or 0 for the root, of which there is exactly one."""
    relations: tuple[str, ...]
    """The relation of each word to its head."""
    steps: Derivation = field(compare=False)
    """The arrays behind ``derivation``."""
    tagged: Sentence = field(compare=False)
    """The sentence with the tags it was parsed with: given ones and, where there was none, predicted ones."""
    calibration: Calibration | None = field(default=None, compare=False)
    """The calibration behind ``confidence``, if the model has one."""
    constraints: Constraints | None = None
    """The constraints it was parsed under."""
    changes: tuple[Change, ...] = field(default=(), compare=False)
    """What the parser decided where that was changed afterwards to obey the rules of Universal Dependencies."""
    encoder: SubtreeEncoder | None = field(default=None, compare=False, metadata={"stored": False})
    """The encoder behind ``vectors``; it is neither pickled nor stored."""
    ranking: Ranking | None = field(default=None, compare=False)
    """The rank, the score and the probability of this tree, if it was found by a beam."""
    alternatives: tuple[Parse, ...] = field(default=(), compare=False)
    """The next best trees of the sentence, best first, if ``n_best`` asked for them. They have none themselves."""

    @classmethod
    def of(
        cls,
        given: Sentence,
        tagged: Sentence,
        derivation: Derivation,
        calibration: Calibration | None = None,
        validity: Validity | None = None,
        *,
        constraints: Constraints | None = None,
        encoder: SubtreeEncoder | None = None,
    ) -> Parse:
        """Make the parse that a derivation leads to: crossing arcs are restored, then what violates the rules of
        ``validity`` is changed. A sentence from a file keeps the tags that were ``given``; one that was made by a
        program gets the predicted ones."""
        fixed, holds = (
            (NOTHING_FIXED, None) if constraints is None else (constraints.relations, partial(hold, constraints))
        )
        heads, relations = finish(derivation, fixed, holds)
        steps = derivation.without_relation_scores()
        changes: tuple[Change, ...] = ()
        if validity is not None:
            heads, relations, upos, changes = validity.obey(
                heads, relations, derivation, tagged, given=given, may_move=constraints is None, holds=holds
            )
            tagged = tagged.with_tags(upos=upos) if upos != tagged.upos else tagged
            tagged = mark_parts(tagged, given, heads, relations)
        sentence = tagged if given.line is None else given
        return cls(sentence, heads, relations, steps, tagged, calibration, constraints, changes, encoder)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.heads)

    def __repr__(self) -> str:
        if len(self) > SHORT:
            return f"Parse({shortened(' '.join(self.sentence.forms))!r}, {len(self)} words)"
        return f"Parse({' '.join(self.sentence.forms)!r}, heads={self.heads}, relations={self.relations})"

    def _repr_html_(self) -> str:
        return parse_html(self)

    def __str__(self) -> str:
        """Return a line for each word: id, form, head and relation."""
        id_width = len(str(len(self)))
        form_width = max(map(len, self.sentence.forms))
        rows = enumerate(zip(self.sentence.forms, self.heads, self.relations, strict=True), 1)
        return "\n".join(
            f"{m:>{id_width}} {form:<{form_width}} {head:>{id_width}} {relation}" for m, (form, head, relation) in rows
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_parse, pack_parse(self)

    @property
    def n_best(self) -> tuple[Parse, ...]:
        """This parse and its alternatives: the best trees of the sentence, best first."""
        return (self, *self.alternatives)

    @property
    def tree(self) -> Tree:
        """The tree, which answers questions about heads, subtrees and paths."""
        return Tree(self.heads, self.relations)

    @property
    def constituents(self) -> Constituents | None:
        """The constituency tree, if the model is one of constituency trees; else None. Decoded anew at each call."""
        return constituents_of(self)

    @property
    def vectors(self) -> Floats:
        """The vector of the subtree of every word, as the parser's tree encoder computes it: (n_words, dim). The row of
        the root is the encoding of the sentence. Computed anew at each call."""
        return vectors_of(self)

    @property
    def fixed_heads(self) -> tuple[int, ...]:
        """The words whose heads were fixed by constraints."""
        return () if self.constraints is None else tuple(sorted(self.constraints.heads))

    @property
    def fixed_relations(self) -> tuple[int, ...]:
        """The words whose relations were fixed by constraints."""
        return () if self.constraints is None else tuple(sorted(self.constraints.relations))

    @property
    def decided_heads(self) -> tuple[int, ...]:
        """The head of each word as the parser decided it, after crossing arcs were restored and before the rules of
        Universal Dependencies changed anything."""
        heads = list(self.heads)
        for change in self.changes:
            heads[change.word - 1] = change.head
        return tuple(heads)

    @property
    def moved(self) -> dict[int, int]:
        """The words whose arcs were moved after parsing, because they cross others, and the heads that the parser
        attached them to. These are above the heads to which they were moved. Computed anew at each call."""
        if not self.steps.marks:
            return {}
        attached, decided = (
            zip(self.steps.modifiers.tolist(), self.steps.heads.tolist(), strict=True),
            self.decided_heads,
        )
        return {m: head for m, head in sorted(attached) if decided[m - 1] != head}

    @property
    def changed_heads(self) -> tuple[int, ...]:
        """The words whose heads are not those that the parser decided: rules changed them."""
        return tuple(change.word for change in self.changes if change.head != self.heads[change.word - 1])

    @property
    def changed_relations(self) -> tuple[int, ...]:
        """The words whose relations are not those that the parser decided: rules changed them."""
        return tuple(change.word for change in self.changes if change.relation != self.relations[change.word - 1])

    @property
    def parsed(self) -> Sentence:
        """The sentence with the heads and relations of this parse."""
        return self.sentence.with_tree(self.heads, self.relations)

    @property
    def words(self) -> tuple[Word, ...]:
        """The words with all their columns, heads and relations from this parse."""
        return self.parsed.words

    @property
    def derivation(self) -> tuple[Attachment, ...]:
        """Every attachment in the order it was decided: one less than there are words. Built anew at each call.

        These are the parser's own decisions, whatever was changed in the tree afterwards."""
        return self.steps.attachments()

    @property
    def confidence(self) -> Confidence | None:
        """The probabilities that the tree, its arcs and its labels are right; None if the model has no calibration. An
        arc that was moved because it crosses others has the probability of the decision it came from. Computed anew at
        each call."""
        return self._confidence(self.changed_heads, self.changed_relations)

    @property
    def decided_confidence(self) -> Confidence | None:
        """The same for what the parser decided, whatever rules changed in the tree afterwards."""
        return self._confidence((), ())

    def _confidence(self, changed_heads: tuple[int, ...], changed_relations: tuple[int, ...]) -> Confidence | None:
        if self.calibration is None:
            return None
        return confidence_of(
            self.steps,
            self.calibration,
            fixed_heads=self.fixed_heads,
            fixed_relations=self.fixed_relations,
            changed_heads=changed_heads,
            changed_relations=changed_relations,
        )

    def draw(
        self, *, width: int | None = None, confidence: bool = False, show: str | Iterable[str] | None = None
    ) -> str:
        """Draw the tree in text, ``width`` columns wide; with ``confidence``, add the probability of each arc. ``show``
        names the columns beside the words, as in ``show="lemma,feats"``: ``lemma``, ``upos`` (the default), ``xpos``,
        ``feats``, or ``none``."""
        tagged, arcs = self.tagged, require_confidence(self.confidence).arcs if confidence else None
        columns = None if show is None else columns_of(tagged, show)
        drawn = (tagged.forms, self.heads, self.relations, tagged.upos)
        return draw_tree(*drawn, columns=columns, confidence=arcs, width=width)

    def display(
        self,
        *,
        steps: bool = False,
        width: float = WIDTH,
        theme: Theme = "auto",
        show: str | Iterable[str] | None = None,
    ) -> Display:
        """Draw the tree in a notebook, which also draws a parse that is the value of a cell. With ``steps``, a slider
        steps through the derivation. ``theme`` is ``"light"``, ``"dark"`` or that of the notebook, and ``show`` names
        the columns below the words, as for :meth:`draw`."""
        return shown([self], steps=steps, width=width, theme=theme, show=show)

    def drawing(self, *, show: str | Iterable[str] | None = None) -> Drawing:
        """Return the input of all other pictures: ``draw_svg(parse.drawing())`` and the like. ``show`` names the
        columns below the words, as for :meth:`draw`."""
        confidence, known = self.confidence, self.constraints
        steps: list[int | None] = [None] * len(self)
        moved: list[int | None] = [None] * len(self)
        attached = zip(self.steps.modifiers.tolist(), self.steps.heads.tolist(), strict=True)
        for step, (m, head) in enumerate(attached, 1):
            steps[m - 1], moved[m - 1] = step, head if head != self.heads[m - 1] else None
        return Drawing(
            self.tagged.forms,
            self.heads,
            self.relations,
            tags=self.tagged.upos,
            confidence=confidence.arcs if confidence else None,
            steps=steps,
            title=self.sentence.metadata.get("sent_id"),
            moved_from=moved if any(moved) else None,
            columns=None if show is None else columns_of(self.tagged, show),
            written=text_of(self.sentence),
            fixed_heads=self.fixed_heads,
            fixed_relations=self.fixed_relations,
            brackets=() if known is None else known.brackets,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the parse for JSON: the confidence of the tree, and the words with tags, head, relation, their
        confidence (null without a calibration), and the step, score and margins of the attachment (null for the root,
        and where there was no other action). With constraints, each word lists what was ``fixed``: ``head``,
        ``relation``. A word whose arc was moved because it crosses others has the head it was ``moved_from``. A word
        that rules changed has what was ``decided``: ``head``, ``relation``, ``upos``. With a beam there are also the
        ``rank``, ``score`` and ``probability`` of the tree and, with ``n_best``, its ``alternatives``. A
        constituency model adds ``constituents``, the tree in brackets."""
        return parse_dict(self)

    def to_bytes(self, *, deps: bool = False, tags: bool = False, confidence: bool = False) -> bytes:
        """Return the sentence as CoNLL-U, with this tree in HEAD and DEPREL; every other byte is as it was read.

        ``deps`` also copies the tree to DEPS, ``tags`` writes what was predicted to LEMMA, UPOS, XPOS and FEATS, and
        ``confidence`` adds ``ArcConf``, ``LabelConf`` and ``Step`` to MISC, ``MovedFrom`` if an arc was moved because
        it crosses others, and ``Decided=head:relation`` where rules changed these. It needs a calibrated model.

        A tree that was found by a beam has its rank, score and probability in comments: ``# parse_rank = 1``."""
        block = self.annotated(deps=deps, tags=tags, confidence=confidence).to_bytes()
        return block if self.ranking is None else self.ranking.annotate(block)

    def annotated(self, *, deps: bool = False, tags: bool = False, confidence: bool = False) -> Sentence:
        """Return the sentence that :meth:`to_bytes` writes, without the comments on its rank."""
        sentence = self.tagged if tags else self.sentence
        sentence = sentence.with_tree(self.heads, self.relations, deps=deps)
        return sentence.with_misc(misc_of(self, require_confidence(self.confidence))) if confidence else sentence

    def to_conllu(self, *, deps: bool = False, tags: bool = False, confidence: bool = False) -> str:
        """Return :meth:`to_bytes` as text."""
        return self.to_bytes(deps=deps, tags=tags, confidence=confidence).decode()

    def to_spacy(self, vocab: Vocab) -> Doc:
        """Return the sentence as a spaCy ``Doc``, as :meth:`Document.to_spacy` does. Its text is ``# text``, or else
        the words with spaces between them, except where MISC has ``SpaceAfter=No``."""
        from easyfirst.results.documents import Document  # it imports this module

        return Document.of_parse(self).to_spacy(vocab)

    def to_nltk(self) -> Any:
        """Return an ``nltk.parse.DependencyGraph``; its ``tree()`` is an ``nltk.Tree``."""
        return nltk_graph(self)

    def to_pandas(self, *, per: Per = "word") -> Any:
        """Return a ``pandas.DataFrame`` with a row for each word, or with ``per="sentence"`` one row with lists."""
        return data_frame([parse_row(self)], per)

    def to_arrow(self, *, per: Per = "word") -> Any:
        """Return a ``pyarrow.Table`` with a row for each word, or with ``per="sentence"`` one row with lists."""
        return arrow_table([parse_row(self)], per)


def shortened(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= 40 else f"{text[:37]}..."
