"""``easyfirst info`` and ``easyfirst models``: a description of a model, and the bundled and installed models."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from easyfirst import __version__
from easyfirst.cli.completions import complete_model
from easyfirst.cli.loading import set_threads, warn_of_name
from easyfirst.cli.messages import printable
from easyfirst.cli.outputs import check_output, is_terminal
from easyfirst.errors import EasyFirstError
from easyfirst.model.bundled import PACKAGE, find_known, find_model, known_models
from easyfirst.native.backend import describe_engine
from easyfirst.treebank.columns import column_names

if TYPE_CHECKING:
    from easyfirst.model.parser_store import ParserModel
    from easyfirst.model.tagger_store import TaggerModel
    from easyfirst.model.tokenizer_store import TokenizerModel
    from easyfirst.parser import Parser


def info(
    model: Annotated[
        str, Argument(metavar="MODEL", help="The name of a model or a directory.", autocompletion=complete_model)
    ],
    as_json: Annotated[bool, Option("--json", help="Print JSON, with all settings and relations.")] = False,
) -> None:
    """Describe a model: input, output, sizes and scores.

    \b
    Example:
      easyfirst info my-model
    """
    set_threads(None)
    check_output(None)
    warn_of_name(model)
    facts = describe(find_model(model))
    if known := find_known(model):
        facts["package"], facts["version"] = known.package, known.version or __version__
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        _show(facts)


def models(as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False) -> None:
    """List the models that can be used by name.

    These are the bundled ones and those of installed packages. Nothing is ever downloaded.

    A name means the bundled model first. A model that is hidden behind another one can be used by its path.

    \b
    Examples:
      easyfirst models
      pip install easyfirst_pt-1.0.0-py3-none-any.whl && easyfirst models
    """
    set_threads(None)
    check_output(None)
    found = _all_models()
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    if not found:
        print("there are no models; train one with 'easyfirst train', and name its directory with --model")
        return
    rows = [["model", "version", "languages", "reads", "size", "from", "licence"]]
    for name, facts in found.items():
        if facts["error"]:
            rows.append([name, facts["version"], "", f"cannot be used: {facts['error']}", "", facts["package"], ""])
            continue
        place = f"{facts['package']}, hidden: {facts['path']}" if facts["is_hidden"] else facts["package"]
        languages, licence = ", ".join(facts["languages"]), facts["licence"] or ""
        rows.append([name, facts["version"], languages, facts["reads"], _size(facts["size"]), place, licence])
    _print_table(rows)
    print("'easyfirst info NAME' shows more; use any other model by the name of its directory")


def _all_models() -> dict[str, dict[str, Any]]:
    """Return facts about each bundled or installed model. One that another model hides has its package in its name."""
    known = known_models()
    names = [model.name for model in known]
    found: dict[str, dict[str, Any]] = {}
    for model in known:
        is_hidden = model.package != PACKAGE and names.count(model.name) > 1
        facts: dict[str, Any] = {"package": model.package, "version": model.version or __version__}
        facts |= {"path": str(model.path), "is_hidden": is_hidden, "error": None}
        try:
            described = describe(model.path)
            facts |= {key: described[key] for key in ("parts", "reads", "languages", "licence", "size")}
        except EasyFirstError as error:  # a damaged package must not hide the others
            facts["error"] = str(error)
        found[f"{model.name} ({model.package})" if is_hidden else model.name] = facts
    return found


def describe(path: Path, parser: Parser | None = None) -> dict[str, Any]:
    """Return the facts about a model as plain values for JSON. ``parser`` is the model, if it is loaded already."""
    from easyfirst.model.card import languages_in, licence_in, scores_in
    from easyfirst.model.directory import CARD, CONFIDENCE, CONFIG, REQUIRED, from_json, read_file
    from easyfirst.model.part import TAGGER, TOKENIZER, TRANSFORMER, VECTORS
    from easyfirst.parser import load

    parser = load(path) if parser is None else parser
    model = parser.model
    configs = ((part, path / part / CONFIG) for part in (TOKENIZER, TAGGER, VECTORS, TRANSFORMER))
    formats = {part: from_json(read_file(file), file)["format_version"] for part, file in configs if file.is_file()}
    written = from_json(read_file(path / CONFIG), path / CONFIG)
    external = model.arrays.get("words.external")
    return {
        "path": str(path),
        "format_version": written["format_version"],
        "formats_of_parts": formats,  # the newest one decides which versions of easyfirst can read the model
        "easyfirst_version": written.get("easyfirst_version"),
        "preset": model.config.preset,
        "engine": parser.engine,
        "parts": [name for name, part in (("tokenizer", parser.tokenizer), ("tagger", parser.tagger)) if part]
        + ["parser"],
        "reads": _reads(parser),
        "gives": [*column_names(parser.tagger.kinds if parser.tagger else ()), "HEAD", "DEPREL"],
        "needs_tags": list(parser.needs_tags),
        "words": len(model.vocabulary.words),
        "tags": {kind: len(rows) for kind, rows in model.vocabulary.tags.items()},
        "external_vectors": None if external is None else {"words": len(external) - 1, "dim": external.shape[1]},
        "encoder": _encoder(model),
        "relations": list(parser.relations),
        "crossing": model.vocabulary.crossing,
        "marked_relations": sum(label.mark is not None for label in model.vocabulary.labels),
        "parameters": sum(array.size for array in model.arrays.values()),
        "tokenizer": None if parser.tokenizer is None else _part(parser.tokenizer.model),
        "tagger": None if parser.tagger is None else _part(parser.tagger.model),
        "files": {
            name: (path / name).stat().st_size for name in (*REQUIRED, CONFIDENCE, CARD) if (path / name).is_file()
        },
        "size": model_size(path),
        "config": model.config.to_dict(),
        "confidence": None if model.calibration is None else asdict(model.calibration.fitted_on),
        "scores": [
            {"convention": name, "UAS": uas, "LAS": las, "words": words}
            for name, uas, las, words in scores_in(model.card)
        ],
        "languages": list(languages_in(model.card)),
        "licence": licence_in(model.card),
    }


def _part(model: TaggerModel | TokenizerModel) -> dict[str, Any]:
    """Return the settings of a tagger's or a tokenizer's network, and the number of its weights."""
    return {"network": asdict(model.config), "parameters": sum(array.size for array in model.arrays.values())}


def _encoder(model: ParserModel) -> dict[str, Any] | None:
    """Return the facts about a pretrained encoder."""
    encoder, tuning = model.encoder, model.config.encoder
    if encoder is None or tuning is None:
        return None
    sizes = {"dim": encoder.settings.dim, "layers": encoder.settings.n_layers - 1, "parameters": encoder.n_parameters}
    return {"name": encoder.name, "licence": encoder.licence, **sizes, "frozen": tuning.frozen}


def _reads(parser: Parser) -> str:
    """Return the input that a model takes, in words."""
    kinds = ["raw text"] if parser.tokenizer is not None else []
    if not parser.needs_tags:
        return ", ".join([*kinds, "tokens", "CoNLL-U"])
    tags = " and ".join(kind.upper() for kind in parser.needs_tags)
    return f"CoNLL-U with {tags} tags"


def model_size(path: Path) -> int:
    """Return the size of all files that are needed to use a model."""
    from easyfirst.model.part import TAGGER, TOKENIZER, TRANSFORMER, VECTORS

    folders = (path, *(path / part for part in (TOKENIZER, TAGGER, VECTORS, TRANSFORMER)))
    return sum(file.stat().st_size for folder in folders for file in folder.glob("*") if file.is_file())


def _show(facts: dict[str, Any]) -> None:
    network = facts["config"]["network"]
    external = facts["external_vectors"]
    counted = {"feats": "FEATS bundles"}
    tag_counts = (f"{count:,} {counted.get(kind, f'{kind.upper()} tags')}" for kind, count in facts["tags"].items())
    words = [f"{facts['words']:,} words", *tag_counts]
    if external is not None:
        words.append(f"external vectors of {external['words']:,} words ({external['dim']} dimensions)")
    bilstm = f"BiLSTM of {network['bilstm_layers']} layers" if network["bilstm_layers"] else "no BiLSTM"
    bilstm += ", directions joined after each layer" if network["bilstm_layers"] and network["deep_bilstm"] else ""
    spelling = (
        f", characters {network['character_dim']} to {network['spelling_dim']}" if network["spelling_dim"] else ""
    )
    trees = f"{network['tree_layers']} x {network['tree_dim']}" if network["tree_layers"] else "no tree encoder"
    scores = (f"{row['UAS']:.2f} UAS, {row['LAS']:.2f} LAS  {row['convention']}" for row in facts["scores"])
    calibrated = "not calibrated ('easyfirst calibrate' adds it)"
    if fitted := facts["confidence"]:
        calibrated = f"calibrated on {fitted['file']} ({fitted['sentences']:,} sentences, tags {fitted['tags']})"
    formats = "".join(f", {part} {version}" for part, version in facts["formats_of_parts"].items())
    path = printable(facts["path"])
    rows = {
        "model": f"{path} (format {facts['format_version']}{formats}; easyfirst {facts['easyfirst_version']})",
        **({"package": f"{facts['package']} {facts['version']}"} if "package" in facts else {}),
        "languages": ", ".join(facts["languages"]) or "none in the model's card",
        "preset": facts["preset"],
        "engine": describe_engine(facts["engine"]),
        "parts": ", ".join(facts["parts"]),
        "reads": facts["reads"],
        "writes": ", ".join(facts["gives"]),
        "needs tags": " and ".join(kind.upper() for kind in facts["needs_tags"]) or "none",
        "vocabulary": ", ".join(words),
        "words": f"word {network['word_dim']}, tag {network['tag_dim']}{spelling}, "
        f"vector {network['vector_dim']}; {bilstm}",
        "trees": f"{network['rnn'].upper()} {trees}; relation {network['relation_dim']}",
        "scorer": f"window of {2 * network['window'] + 2} subtrees, {network['hidden_dim']} hidden units",
        **({"members": f"{members} networks, each as above"} if (members := facts["config"]["members"]) > 1 else {}),
        "parameters": f"{facts['parameters']:,}",
        **({"encoder": _transformer(encoder)} if (encoder := facts["encoder"]) else {}),
        **{part: _network(facts[part]) for part in ("tagger", "tokenizer") if facts[part]},
        "files": ", ".join(f"{name} {_size(size)}" for name, size in facts["files"].items())
        + f"; with all parts {_size(facts['size'])}",
        "relations": f"{len(facts['relations'])}: {' '.join(facts['relations'])}",
        "crossing": "arcs are not restored: every tree is projective"
        if facts["crossing"] is None
        else f"arcs are restored, by {facts['marked_relations']} marked relations (scheme {facts['crossing']})",
        "dev scores": "\n".join(scores) or "none in the model's card",
        "confidence": calibrated,
        "licence": facts["licence"] or "none in the model's card",
    }
    _print_table([[name, value] for name, value in rows.items()])


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns as wide as the terminal; elsewhere, no line is wrapped or padded."""
    rows = [["\n".join(map(printable, cell.split("\n"))) for cell in row] for row in rows]
    if not is_terminal(sys.stdout):
        widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
        for *cells, last in rows:
            before = "".join(f"{cell:{width + 2}}" for cell, width in zip(cells, widths, strict=True))
            print(before + last.replace("\n", "\n" + " " * len(before)))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console(highlight=False).print(table)


def _network(facts: dict[str, Any]) -> str:
    """Describe the network of a tagger or a tokenizer."""
    network = facts["network"]
    members = f"{network['members']} members, " if network.get("members", 1) > 1 else ""
    layers = f"BiLSTM {network['bilstm_layers']} x {network['bilstm_dim']}" if "bilstm_dim" in network else ""
    layers = layers or f"BiLSTMs of {network['hidden_dim']} over characters and {network['token_dim']} over tokens"
    return f"{members}{layers}; {facts['parameters']:,} parameters"


def _transformer(facts: dict[str, Any]) -> str:
    """Describe a pretrained encoder."""
    licence = facts["licence"] or "licence not stated"
    how = "frozen" if facts["frozen"] else "fine-tuned"
    sizes = f"{facts['layers']} layers, {facts['dim']} wide; {facts['parameters']:,} parameters"
    return f"{facts['name']} ({licence}), {how}; {sizes}"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"
