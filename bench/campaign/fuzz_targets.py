"""What is fuzzed: functions of bytes that return what happened to them, and fail if a promise is broken.

Errors that easyfirst raises on purpose are an outcome, ``refused``. Any other exception is
a finding.
"""

from __future__ import annotations

import io
import json
import pickle
import warnings
from collections.abc import Callable

import numpy as np

from easyfirst.constraints.annotations import constraints_of
from easyfirst.constraints.checking import hold
from easyfirst.constraints.conflicts import compile_constraints
from easyfirst.constraints.records import Bracket, Constraint, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.errors import ConstraintError, DataError, EasyFirstError, InputError, LanguageWarning
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.parser import Parser
from easyfirst.results.documents import Document
from easyfirst.results.parses import Parse
from easyfirst.tables.conllu import ConlluWriter
from easyfirst.tables.parquet import rows_of_sentences
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_shape, check_tree
from tests.constraints.all_trees import RELATIONS, ROOT, good_trees
from tests.small_models import small_model, small_tagger, small_tokenizer

Target = Callable[[bytes], str]
REFUSED = "refused"
NO_COUNTS = np.zeros(1, dtype=np.int64)
VOCABULARY = ParserVocabulary(words={}, counts=NO_COUNTS, tags={}, relations=RELATIONS, root_relation=ROOT)


def small_parser() -> Parser:
    """Return a parser of a few numbers that reads raw text, tags and features."""
    kinds = ("upos", "xpos", "feats", "features", "lemmas")
    return Parser(small_model("all"), tokenizer=small_tokenizer(), tagger=small_tagger(kinds=kinds))


def check_message(error: EasyFirstError) -> None:
    """Check an error message: it says something, and is not too long to read."""
    assert 0 < len(str(error).strip()) < 5_000, f"a message of {len(str(error))} characters"


def check_parse(parse: Parse, parser: Parser) -> None:
    """Check a tree: one root, no cycle, and relations of the model."""
    assert len(parse.heads) == len(parse.relations) == len(parse)
    assert all(0 <= head <= len(parse) for head in parse.heads)
    check_shape(parse.sentence, parse.heads)
    assert set(parse.relations) <= set(parser.relations), parse.relations


def check_document(document: Document, parser: Parser) -> None:
    """Check that tokens cover a text, in order and with nothing but white space between them, and that trees are
    trees which CoNLL-U can carry."""
    tokens = [token for sentence in document.tokens for token in sentence]
    ends = [0, *(place for token in tokens for place in (token.start, token.end)), len(document.text)]
    assert ends == sorted(ends), "tokens overlap"
    gaps = (document.text[ends[i] : ends[i + 1]] for i in range(0, len(ends), 2))
    assert not any(gap.strip() for gap in gaps), "text between tokens"
    assert all(token.start < token.end and token.words and all(token.words) for token in tokens)
    assert len(document.sentences) == len(document.tokens)
    for parse, of_sentence in zip(document.sentences, document.tokens, strict=True):
        assert len(parse) == sum(len(token.words) for token in of_sentence)
        check_parse(parse, parser)
        [back] = ConlluReader(io.BytesIO(parse.to_bytes(tags=True)), "written")
        assert (back.forms, back.heads, back.relations) == (parse.sentence.forms, parse.heads, parse.relations)
        json.dumps(parse.to_dict(), allow_nan=False)


# ------------------------------------------------------------------------------------------------------ the targets
def conllu() -> Target:
    """CoNLL-U comes back byte for byte: from sentences, from pickles of them, and from the rows of tables."""

    def target(data: bytes) -> str:
        reader = ConlluReader(io.BytesIO(data), "fuzzed")
        try:
            sentences = list(reader)
        except DataError as error:
            check_message(error)
            return REFUSED
        assert b"".join(sentence.to_bytes() for sentence in sentences) + reader.trailer == data
        for sentence in sentences:
            again = pickle.loads(pickle.dumps(sentence))
            assert (again.to_bytes(), again.columns) == (sentence.to_bytes(), sentence.columns)
            try:
                check_tree(sentence)
            except DataError as error:
                check_message(error)
        writer = ConlluWriter()
        written = b"".join(map(writer.encode, rows_of_sentences(sentences))) + writer.end(reader.trailer)
        assert written == data, "not the same through rows"
        return "read" if sentences else "no sentence"

    return target


def text() -> Target:
    """Any text becomes tokens that cover it, and trees."""
    parser = small_parser()

    def target(data: bytes) -> str:
        given = data.decode("utf-8", "replace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LanguageWarning)
            try:
                document = parser(given)
            except InputError as error:
                check_message(error)
                return REFUSED
        assert document.text == given
        check_document(document, parser)
        return "parsed" if document.sentences else "no sentence"

    return target


def _read_constraints(data: bytes) -> tuple[int, tuple[Constraint, ...]]:
    """Read a number of words, and constraints of four bytes each."""
    n = 1 + (data[0] % 5 if data else 0)
    items: list[Constraint] = []
    for kind, one, two, three in zip(*(data[1 + i : 25 : 4] for i in range(4)), strict=False):
        m, h, relation = 1 + one % n, two % (n + 1), (*RELATIONS, ROOT)[three % 4]
        match kind % 4:
            case 0 if m != h:
                items.append(FixedHead(modifier=m, head=h))
            case 1:
                items.append(FixedRelation(modifier=m, relation=relation))
            case 2 if m != h:
                items.append(ForbiddenArc(head=h, modifier=m, relation=relation if three & 4 else None))
            case 3:
                items.append(Bracket(first=min(m, max(h, 1)), last=max(m, h)))
            case _:
                pass
    return n, tuple(dict.fromkeys(items))


def constraints() -> Target:
    """Constraints are refused if and only if no tree of all trees obeys them, and a conflict is minimal. Trees obey the
    constraints in MISC."""
    parser = small_parser()

    def compiled(n: int, items: tuple[Constraint, ...]) -> ConstraintError | None:
        try:
            compile_constraints(Sentence.from_words([f"w{m}" for m in range(n)]), Constraints(items), VOCABULARY)
        except ConstraintError as error:
            check_message(error)
            return error
        return None

    def target(data: bytes) -> str:
        n, items = _read_constraints(data)
        error = compiled(n, items)
        assert (error is None) == any(True for _ in good_trees(n, items)), items
        if error is not None and "cycle" not in str(error):
            conflict: tuple[Constraint, ...] = error.conflict  # type: ignore[assignment]
            assert set(conflict) <= set(items)
            assert compiled(n, conflict) is not None
        return REFUSED if error else constrained(n, items)

    def constrained(n: int, items: tuple[Constraint, ...]) -> str:
        names: dict[str, str] = dict(
            zip((*RELATIONS, ROOT), (*parser.relations[:3], parser.relations[-1]), strict=True)
        )
        known = Constraints(tuple(_renamed(item, names) for item in items))
        [parse] = parser.parse([[f"w{m}" for m in range(n)]], constraints=[known])
        check_parse(parse, parser)
        assert hold(known, parse.heads, parse.relations), (items, parse)
        return "parsed"

    return target


def _renamed(item: Constraint, names: dict[str, str]) -> Constraint:
    match item:
        case FixedRelation(modifier=m, relation=relation):
            return FixedRelation(modifier=m, relation=names[relation])
        case ForbiddenArc(head=h, modifier=m, relation=str(relation)):
            return ForbiddenArc(head=h, modifier=m, relation=names[relation])
        case _:
            return item


def annotated() -> Target:
    """Constraints in the MISC of CoNLL-U, read and obeyed, or refused with the line."""
    parser = small_parser()

    def target(data: bytes) -> str:
        try:
            sentences = [each for each in ConlluReader(io.BytesIO(data), "fuzzed") if len(each) <= 12][:4]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LanguageWarning)
                parses = parser.parse(sentences, constraints=constraints_of)
        except (DataError, InputError) as error:
            check_message(error)
            return REFUSED
        for parse in parses:
            check_parse(parse, parser)
            assert hold(constraints_of(parse.sentence) or Constraints(), parse.heads, parse.relations)
        return "parsed" if parses else "no sentence"

    return target
