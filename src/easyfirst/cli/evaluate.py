"""``easyfirst evaluate``: scores of trees against gold trees."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import tee
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from easyfirst.cli.completions import complete_model
from easyfirst.cli.constituency import TreeOptions, is_brackets, score_trees, show_trees
from easyfirst.cli.files import STANDARD
from easyfirst.cli.loading import check_calibrated, load_model, parser_threads, warn_of_name
from easyfirst.cli.messages import printable
from easyfirst.cli.options import Encoding, ParserThreads, Valid
from easyfirst.cli.sources import read_conllu
from easyfirst.cli.tables import print_tables, table
from easyfirst.counting import count
from easyfirst.errors import DataError
from easyfirst.treebank.conll18 import COMPARED, NOT_IN_GOLD, NOT_PREDICTED, SCORED, Conll18Scores
from easyfirst.treebank.raw_text import raw_text, read_paragraphs
from easyfirst.treebank.scores import Scores, WordsError, score
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.text_scores import score_text

if TYPE_CHECKING:
    from easyfirst.confidence.reliability import ReliabilityReport
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

CONVENTIONS = {
    "ud": ("UD", "all words, subtypes of relations ignored"),
    "conllx": ("CoNLL-X", "without punctuation, relations in full"),
    "full": ("full", "all words, relations in full"),
}
TAG_COLUMNS = ("LEMMA", "UPOS", "XPOS", "FEATS")
GIVEN = "given"  # the state of a column that a model did not predict because GOLD has it
MEANINGS = {
    NOT_PREDICTED: "no figures for {}",
    GIVEN: "these are the values of GOLD; use --predicted-tags to score those of a tagger",
    NOT_IN_GOLD: "{} say nothing about it",
}


def evaluate(
    gold: Annotated[str, Argument(metavar="GOLD", help="CoNLL-U or brackets with the gold trees.")],
    system: Annotated[
        str | None,
        Argument(metavar="SYSTEM", help="CoNLL-U with the trees to score, of the same words (or text)."),
    ] = None,
    model: Annotated[
        str | None,
        Option(
            "--model", "-m", help="Score this model's parses of GOLD's words and tags.", autocompletion=complete_model
        ),
    ] = None,
    text: Annotated[
        bool,
        Option(
            "--text",
            help="Score as raw text: align tokens, sentences and words by characters. With --model: parse GOLD's raw "
            "text.",
        ),
    ] = False,
    predicted_tags: Annotated[
        bool,
        Option("--predicted-tags", help="With --model: predict tags, as for raw text, instead of using GOLD's."),
    ] = False,
    no_spaces: Annotated[
        bool, Option("--no-spaces", help="With --text --model: GOLD's language is written without spaces.")
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print all scores, in per cent, as JSON.")] = False,
    by_relation: Annotated[
        bool, Option("--by-relation", help="Add a table by relation, or by label of phrases.")
    ] = False,
    by_length: Annotated[bool, Option("--by-length", help="Add a table by sentence length.")] = False,
    confidence: Annotated[
        bool, Option("--confidence", help="With --model: add how well its confidence is calibrated.")
    ] = False,
    constituency: Annotated[
        bool, Option("--constituency", help="Score phrases: the files are brackets, as .ptb and .mrg files always are.")
    ] = False,
    strip: Annotated[
        str | None,
        Option(
            metavar="WHAT",
            help="Of brackets, what to remove from the trees: traces, functions, both with a comma between, or none. "
            "Default: none; with --model what its training removed.",
        ),
    ] = None,
    encoding: Encoding = None,
    valid: Valid = True,
    threads: ParserThreads = None,
) -> None:
    """Score trees, tags and lemmas against gold ones.

    Reports UAS and LAS in three conventions, and all metrics of the CoNLL 2018 shared task.

    Give a file SYSTEM, or --model to parse GOLD first. '-' is stdin.
    With --text, SYSTEM may split the same text into other tokens and sentences than
    GOLD; only the metrics of the shared task are then reported.
    Of brackets, reports labelled bracketing as EVALB does.
    A metric has no figure if SYSTEM or the model does not predict what it compares.

    \b
    Examples:
      easyfirst evaluate gold.conllu output.conllu
      easyfirst evaluate gold.conllu output.conllu --text
      easyfirst evaluate gold.conllu --model my-model --by-relation
      easyfirst evaluate gold.conllu --model en --text
      easyfirst evaluate gold.conllu --model en --predicted-tags --confidence
      easyfirst evaluate gold.ptb output.ptb --strip traces,functions
    """
    if (system is None) == (model is None):
        raise BadParameter("give either a file SYSTEM or --model DIR", param_hint="SYSTEM")
    if gold == system == STANDARD:
        raise BadParameter("only one of GOLD and SYSTEM can be stdin", param_hint="SYSTEM")
    if text and (by_relation or by_length):
        raise BadParameter("needs equal words; leave out --text", param_hint="--by-relation or --by-length")
    n_threads = 1
    if model is not None:
        warn_of_name(model)
        n_threads = parser_threads(threads)
    if predicted_tags and (model is None or text):
        said = "goes with --model and without --text, which predicts tags anyway"
        raise BadParameter(said, param_hint="--predicted-tags")
    if confidence and (model is None or text):
        raise BadParameter("goes with --model and without --text", param_hint="--confidence")
    if constituency or is_brackets(gold):
        if text or confidence:
            raise BadParameter("is for dependency trees; leave it out", param_hint="--text or --confidence")
        read = TreeOptions(encoding, strip, predicted_tags=predicted_tags, threads=n_threads)
        phrases = score_trees(gold, system, model, read)
        show_trees(phrases, as_json=as_json, by_label=by_relation, by_length=by_length)
        return
    if strip is not None:
        raise BadParameter("is for brackets; add --constituency", param_hint="--strip")
    if text:
        if model is not None and gold == STANDARD:
            raise BadParameter("must be a file, not stdin, with --text and --model", param_hint="GOLD")
        if model is not None:
            made = _parse_raw_text(
                gold, encoding, load_model(model, warns=False, valid=valid), n_threads, no_spaces=no_spaces
            )
        else:
            made = _read(system or "", encoding)
        _show_text(score_text(_read(gold, encoding), made), as_json=as_json)
        return
    given: tuple[str, ...] = ()
    reliability: ReliabilityReport | None = None
    if model is not None:
        given = () if predicted_tags else TAG_COLUMNS
        parser = load_model(model, warns=False, valid=valid)
        if confidence:
            check_calibrated(parser, model)
        trees = read_conllu(gold, encoding)
        scores, reliability = _score_model(
            trees, parser, model, n_threads, predicted_tags=predicted_tags, with_confidence=confidence
        )
    else:
        try:
            scores = score(read_conllu(gold, encoding), read_conllu(system or "", encoding))
        except WordsError as error:
            raise DataError(f"{error}; if only tokens or sentences differ, add --text") from None
    if not scores.sentences:
        raise _no_sentences(gold)
    columns = _columns(scores.conll18, given)
    _show(scores, columns, reliability, as_json=as_json, by_relation=by_relation, by_length=by_length)


def _read(name: str, encoding: str | None) -> list[Sentence]:
    """Return all sentences of a file; raise an error if there are none."""
    sentences = list(read_conllu(name, encoding))
    if not sentences:
        raise _no_sentences(name)
    return sentences


def _parse_raw_text(
    gold: str, encoding: str | None, parser: Parser, threads: int, *, no_spaces: bool
) -> list[Sentence]:
    """Parse the raw text of a treebank."""
    text = raw_text(read_paragraphs(_read(gold, encoding), spaces="none" if no_spaces else "given"))
    return [parse.to_sentence() for parse in parser(text, threads=threads)]


def _score_model(
    gold: Iterator[Sentence], parser: Parser, model: str, threads: int, *, predicted_tags: bool, with_confidence: bool
) -> tuple[Scores, ReliabilityReport | None]:
    """Score a model's parses of the words of a treebank, and judge its confidence."""
    from easyfirst.confidence.fitting import evaluate_confidence
    from easyfirst.text.tagging import without_tags

    sentences, kept = tee(gold)
    if predicted_tags:
        sentences = without_tags(sentences, parser.tagger, model)
    stream = parser.pipe(sentences, threads=threads)
    parses = list(stream) if with_confidence else []  # their sentences have the gold trees
    scores = score(kept, map(partial(_scored, predicted=predicted_tags), parses or stream))
    return scores, evaluate_confidence(parses, [parse.sentence for parse in parses]) if parses else None


def _scored(parse: Parse, *, predicted: bool) -> Sentence:
    """Return a parsed sentence with the tags and lemmas that it had before, and predicted ones in their gaps; or only
    with those that were ``predicted``, since the others are those of the gold file."""
    before, after = parse.sentence, parse.tagged
    columns = {
        "lemmas": (before.lemmas, after.lemmas),
        "upos": (before.upos, after.upos),
        "xpos": (before.xpos, after.xpos),
        "feats": (before.feats, after.feats),
    }
    scored = {
        name: tuple([new if old == "_" else "_" if predicted else old for old, new in zip(*pair, strict=True)])
        for name, pair in columns.items()
    }
    return replace(after.with_tree(parse.heads, parse.relations), **scored)


def _no_sentences(name: str) -> DataError:
    return DataError("no sentences to compare in this file", source=name)


def _columns(scores: Conll18Scores | None, given: Collection[str] = ()) -> dict[str, str]:
    """Return how each column was compared; those that a model was ``given`` have the gold values."""
    found = {} if scores is None else scores.columns
    return {name: GIVEN if state == SCORED and name in given else state for name, state in found.items()}


def _show(
    scores: Scores,
    columns: dict[str, str],
    reliability: ReliabilityReport | None,
    *,
    as_json: bool,
    by_relation: bool,
    by_length: bool,
) -> None:
    values = scores.to_dict()
    values["columns"] = columns
    if reliability is not None:
        values["confidence"] = reliability.to_dict()
    if as_json:
        print(json.dumps(values, ensure_ascii=False, indent=2))
        return
    made = table("", "UAS %", "LAS %", "words", "counted")
    for key, (name, meaning) in CONVENTIONS.items():
        row = values[key]
        made.add_row(name, f"{row['UAS']:.2f}", f"{row['LAS']:.2f}", f"{row['words']:,}", meaning)
    unlabelled, labelled = (f"{values['exact'][kind]:.2f} %" for kind in ("unlabelled", "labelled"))
    right = (
        f"{count(scores.sentences, 'sentence')}; whole trees right: {unlabelled} of heads, {labelled} with relations"
    )
    print_tables(made, right)
    if scores.conll18 is not None:
        _show_metrics(scores.conll18, columns, "Its UAS and LAS are those of the row UD above")
    if by_relation:
        made = table("relation", "gold", "system", "precision %", "recall %", "F1 %")
        for name, row in values["relations"].items():
            shares = (f"{row[key]:.2f}" for key in ("precision", "recall", "f1"))
            made.add_row(printable(name), f"{row['gold']:,}", f"{row['system']:,}", *shares)
        print_tables(made)
    if by_length:
        made = table("length", "sentences", "words", "UAS %", "LAS %")
        for name, row in values["lengths"].items():
            made.add_row(name, f"{row['sentences']:,}", f"{row['words']:,}", f"{row['UAS']:.2f}", f"{row['LAS']:.2f}")
        print_tables(made)
    if reliability is not None:
        _show_confidence(reliability)


def _show_confidence(reliability: ReliabilityReport) -> None:
    """Print how well the confidence is calibrated, and the error rate of the most confident parts."""
    right = table("confidence", "right %", "mean confidence %", "ECE")
    wrong = table("error % by coverage", *(f"{100 * share:g} %" for share, _ in reliability.arcs.risks))
    for name, found in (("arcs", reliability.arcs), ("labels", reliability.labels), ("trees", reliability.trees)):
        right.add_row(name, f"{100 * found.accuracy:.2f}", f"{100 * found.confidence:.2f}", f"{found.ece:.4f}")
        wrong.add_row(name, *(f"{100 * risk:.2f}" for _, risk in found.risks))
    print_tables(right, "ECE: expected calibration error, 15 bins of equal size.", wrong)
    share = f"{100 * reliability.least_sure_errors:.1f} % of all wrong heads"
    print_tables(f"The tenth of the sentences with the lowest tree confidence\nhas {share}.")


def _show_text(scores: Conll18Scores, *, as_json: bool) -> None:
    columns = _columns(scores)
    if as_json:
        print(json.dumps({"text": scores.to_dict(), "columns": columns}, indent=2))
        return
    _show_metrics(scores, columns, "The metrics of the CoNLL 2018 shared task")


def _show_metrics(scores: Conll18Scores, columns: Mapping[str, str], note: str) -> None:
    """Print the table of the CoNLL 2018 metrics, and why some have no figures or tell nothing."""
    made = table("CoNLL 2018", "precision %", "recall %", "F1 %", "aligned %", "gold", "system")
    for name, metric in scores.metrics.items():
        shares = (metric.precision, metric.recall, metric.f1, metric.aligned_accuracy)
        is_predicted = scores.is_predicted(name)
        cells = ("" if share is None else f"{share:.2f}" if is_predicted else "-" for share in shares)
        made.add_row(name, *cells, f"{metric.gold:,}", f"{metric.system:,}")
    lines = [f"{note}; aligned %: of the words that both sides have."]
    for state, meaning in MEANINGS.items():
        named = [column for column in columns if columns[column] == state]
        affected = [name for name, compared in COMPARED.items() if not set(named).isdisjoint(compared)]
        if named:
            lines.append(f"{', '.join(named)} {state}: {meaning.format(', '.join(affected))}.")
    print_tables(made, *lines)
