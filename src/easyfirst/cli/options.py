"""The options that several verbs share."""

from __future__ import annotations

from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from easyfirst.cli.completions import complete_list, complete_model, complete_preset
from easyfirst.constraints.annotations import constraints_of
from easyfirst.errors import InputError

if TYPE_CHECKING:
    from easyfirst.constraints.arguments import ConstraintsOf


class Format(str, Enum):
    """The format of the input."""

    conllu = "conllu"
    text = "text"
    lines = "lines"
    tokens = "tokens"
    parquet = "parquet"


InputFiles = Annotated[list[str] | None, Argument(metavar="INPUT", help="Files, plain or .gz; none or '-': stdin.")]
GivenText = Annotated[str | None, Option("--text", "-t", metavar="TEXT", help="The text itself, instead of files.")]
InputFormat = Annotated[
    Format | None,
    Option(
        "--from",
        help="The format of the input. conllu; text: documents separated by blank lines; lines: a sentence per line; "
        "tokens: a sentence per line, words separated by spaces; parquet: a table of parsed sentences or of texts. By "
        "default, .conllu and .conll files are conllu, .txt files are text and .parquet files parquet; for other files "
        "and stdin, the first lines decide between conllu and text.",
    ),
]
Column = Annotated[
    str | None,
    Option(
        "--column",
        metavar="NAME",
        help="The column of a Parquet file with the texts to parse. Default: the parsed sentences, or else the column "
        "text.",
    ),
]
IdColumn = Annotated[
    str | None,
    Option(
        "--id-column", metavar="NAME", help="The column of a Parquet file with the ids of its texts. Default: doc_id."
    ),
]
Encoding = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="The encoding of input that is not UTF-8, such as latin-1. A byte order mark takes precedence; the "
        "output is always UTF-8.",
    ),
]
ModelName = Annotated[
    str,
    Option(
        "--model",
        "-m",
        metavar="NAME",
        help="The name of a model ('easyfirst models' lists them) or a directory.",
        autocompletion=complete_model,
    ),
]
OutputFile = Annotated[
    str | None,
    Option("--output", "-o", metavar="FILE", help="The file to write, all at once at the end; default: stdout."),
]
ModelDirectory = Annotated[str, Argument(metavar="MODEL", help="The model's directory.", autocompletion=complete_model)]
ModelOutput = Annotated[Path, Option("--out", "-o", metavar="DIR", help="The directory of the new model.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace a model that is in DIR.")]
Valid = Annotated[
    bool,
    Option(
        "--valid/--no-valid",
        help="Change trees of Universal Dependencies that violate its rules, or keep them as the parser decided.",
    ),
]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors on stderr.")]
Threads = Annotated[
    int | None,
    Option(min=1, help="The threads of NumPy's and PyTorch's linear algebra; default: OMP_NUM_THREADS or 1."),
]
ParserThreads = Annotated[
    int | None,
    Option(
        min=1,
        help="The threads that parse; the output is the same for any number. Default: OMP_NUM_THREADS, or all cores "
        "that this process may use.",
    ),
]
Show = Annotated[
    list[str] | None,
    Option(
        "--show",
        metavar="COLUMNS",
        help="The columns drawn with the words: lemma, upos, xpos, feats, several with commas between, or none. "
        "Default: upos.",
        autocompletion=complete_list("lemma", "upos", "xpos", "feats", "none"),
    ),
]
Parts = Annotated[
    str,
    Option(
        help="What to train: parser, tagger, tokenizer, several with commas between, or all: text to trees.",
        autocompletion=complete_list("parser", "tagger", "tokenizer", "all"),
    ),
]
Preset = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="A row of the paper's tables: bottom-up, htlstm or paper (the default of a parser alone); pipeline "
        "(the default with a tagger); strong; or beam, to fine-tune the parser of --init for beam search.",
        autocompletion=complete_preset,
    ),
]
Misc = Annotated[
    bool,
    Option(
        "--constraints",
        help="Obey the constraints in MISC: FixedHead=3, FixedRel=nsubj, ForbiddenHead=5,7:obj, Bracket=2:5.",
    ),
]
KeptHeads = Annotated[
    bool, Option("--keep-heads", help="Keep each HEAD and DEPREL that is not _, and find the others.")
]


def constraints_reader(*, misc: bool, heads: bool, is_conllu: bool) -> ConstraintsOf | None:
    """Return the function that reads the constraints of a sentence, or None if there are none to obey."""
    if not (misc or heads):
        return None
    if not is_conllu:
        raise InputError(f"{'--constraints' if misc else '--keep-heads'} is for CoNLL-U; leave it out for other input")
    return partial(constraints_of, misc=misc, heads=heads)
