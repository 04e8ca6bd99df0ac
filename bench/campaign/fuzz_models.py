"""More that is fuzzed: the files of a model, and the bodies of requests to the server."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.campaign.fuzz_targets import REFUSED, Target, check_message, check_parse, small_parser
from easyfirst.errors import ConfigError, DataError, InputError, LanguageWarning, ModelError
from easyfirst.model.embeddings import Embeddings, read_embeddings, write_embeddings
from easyfirst.model.saving import load_model
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.transaction import COMMIT, FILES
from easyfirst.parser import Parser
from easyfirst.server.answers import Answer, Answerer
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import ParseRequest, read_request
from easyfirst.text.tagging import Tagger
from easyfirst.text.tokenizing import Tokenizer
from tests.calibrations import BY_HAND
from tests.small_models import small_model, small_tagger, small_tokenizer

PLACES = ("", "tokenizer/", "tagger/", "vectors/")
VECTORS = Embeddings(("fox", "jumps"), np.arange(6, dtype=np.float32).reshape(2, 3))
JOURNAL = f"{COMMIT}/journal.json"
STAGED = f"{COMMIT}/0"


def model_files(folder: Path) -> dict[str, bytes]:
    """Write a model with all parts. Return its files, the journal of a replacement, and files of vectors."""
    shared = SharedVectors.of(VECTORS)
    model = replace(small_model("both", shared), calibration=BY_HAND)
    Parser(model, tokenizer=small_tokenizer(), tagger=small_tagger(shared)).save(folder)
    names = [place + name for place in PLACES for name in FILES]
    files = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    files[JOURNAL] = b'{"version": 1, "write": {"config.json": "0"}, "remove": ["tagger"]}'
    stream = io.BytesIO()
    write_embeddings(stream, VECTORS)
    return {**files, "vectors.npz": stream.getvalue(), "vectors.txt": b"2 3\nfox 1 2 3\njumps -1 0.5 1e-3\n"}


def write_model(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a model, but not the journal of a replacement and not the files of vectors."""
    for name, content in files.items():
        if name != JOURNAL and not name.startswith("vectors."):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def models() -> Target:
    """A file of a model is replaced by any bytes: it is refused, or the model loads and gives trees. The first byte
    chooses the file."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None, prefix="easyfirst-fuzz-"))
    files = model_files(folder / "m")
    names = sorted(files)

    def target(data: bytes) -> str:
        name, content = names[data[0] % len(names) if data else 0], data[1:]
        try:
            if name.startswith("vectors."):
                (folder / name).write_bytes(content)
                read_embeddings(folder / name)
                return "loaded"
            return load(name, content)
        except (ModelError, ConfigError, DataError) as error:
            check_message(error)
            return REFUSED

    def load(name: str, content: bytes) -> str:
        (folder / "m" / name).parent.mkdir(exist_ok=True)
        (folder / "m" / name).write_bytes(content)
        if name == JOURNAL:
            (folder / "m" / STAGED).write_bytes(files["config.json"])
        try:
            parts = load_model(folder / "m")
        finally:
            restore(name)
        tokenizer = None if parts.tokenizer is None else Tokenizer(parts.tokenizer)
        tagger = None if parts.tagger is None else Tagger(parts.tagger)
        parser = Parser(parts.parser, tokenizer=tokenizer, tagger=tagger)
        try:
            for parse in parser.parse([[("A", "DET", "DT"), ("fox", "NOUN", "NN"), ("jumps", "VERB", "VBZ")]]):
                check_parse(parse, parser)
        except InputError as error:
            check_message(error)
        return "loaded"

    def restore(name: str) -> None:
        if name == JOURNAL:
            for place in (JOURNAL, STAGED):
                (folder / "m" / place).unlink(missing_ok=True)
            if (folder / "m" / COMMIT).is_dir():
                (folder / "m" / COMMIT).rmdir()
            write_model(folder / "m", files)
        else:
            (folder / "m" / name).write_bytes(files[name])

    return target


def bodies() -> Target:
    """The body of a request is refused with a documented status, or answered with JSON that the library confirms."""
    parser, limits = small_parser(), Limits(max_characters=2_000, max_words=200, max_sentence_words=50)
    answerer = Answerer(parser, limits)
    other = ParseRequest(texts=("The fox jumps.",))

    def target(data: bytes) -> str:
        try:
            request = read_request(data, parser, limits)
        except (RefusedError, InputError, DataError) as error:
            check_message(error)
            return REFUSED
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LanguageWarning)
            alone, beside = answered(request), answerer([other, request, other])[1]
        if isinstance(alone, RefusedError | InputError | DataError):
            check_message(alone)
            return REFUSED
        assert isinstance(alone, Answer), alone
        if isinstance(beside, Answer) and parser.engine != "numpy":
            assert alone.written == beside.written, "not the same answer alone and beside others"
        for parse in alone.parses:
            check_parse(parse, parser)
        sentences = json.loads(alone.written)
        assert len(sentences) == len(alone.parses)
        return "answered"

    def answered(request: ParseRequest) -> Answer | Exception:
        """Answer a request in steps, as a large one."""
        steps = answerer.steps(request)
        try:
            while True:
                next(steps)
        except StopIteration as end:
            return end.value
        except (RefusedError, InputError, DataError) as error:
            return error

    return target
