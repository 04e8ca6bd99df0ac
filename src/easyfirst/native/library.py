"""The compiled core as Python sees it: the library, its structures (``api.h``) and its functions.

The core releases the GIL while it works. Parsing never needs it: without it, NumPy does the work.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any

from easyfirst.errors import ConfigError, ModelError

LIBRARY_VARIABLE = "EASYFIRST_NATIVE_LIBRARY"  # another library file than that of the package
ISA_VARIABLE = "EASYFIRST_ISA"
ISAS = ("base", "v3", "v4", "v4vnni")
"""The instruction sets that the core is compiled for; not every machine has all of them."""
NAMES = ("_core.so", "_core.dylib", "_core.dll")
NO_MEMORY, BAD_INPUT, NOT_FINITE = 1, 2, 3
PRECISIONS: Mapping[str, int] = {"float32": 0, "int8": 1, "int8-fast": 2}
"""Weights of 32 bits; or of 8 bits, with activations of 14 bits, or of 7 bits where that loses no accuracy."""


class BlockStruct(ctypes.Structure):
    _fields_ = (
        ("source", c_void_p),
        *((name, c_int32) for name in ("stride", "rows", "columns", "row", "column")),
        ("factor", c_float),
    )


class LayerStruct(ctypes.Structure):
    _fields_ = (
        ("dim", c_int32),
        ("is_joint", c_int32),
        ("input", c_void_p * 2),
        ("recurrent", c_void_p * 2),
        ("table", c_void_p),
        ("n_rows", c_int32),
    )


class EncoderStruct(ctypes.Structure):
    _fields_ = (
        ("n_tables", c_int32),
        ("tables", POINTER(c_void_p)),
        ("table_rows", POINTER(c_int32)),
        ("table_dims", POINTER(c_int32)),
        ("form_dim", c_int32),
        ("characters", c_void_p),
        ("project", c_void_p),
        ("n_layers", c_int32),
        ("layers", POINTER(LayerStruct)),
        ("input_dim", c_int32),
        ("output_dim", c_int32),
    )


class WordsStruct(ctypes.Structure):
    _fields_ = (
        ("n_sequences", c_int32),
        ("lengths", c_void_p),
        ("ids", c_void_p),
        ("vectors", c_void_p),
        ("forms", c_void_p),
        ("n_forms", c_int32),
        ("form_vectors", c_void_p),
        ("characters", c_void_p),
        ("form_lengths", c_void_p),
    )


class MemberStruct(ctypes.Structure):
    _fields_ = (
        ("words", c_void_p),
        *((name, c_int32) for name in ("dim", "vector_dim", "n_layers", "n_slots", "hidden_dim", "n_relations")),
        ("padding", c_void_p),
        ("steps", POINTER(c_void_p)),
        ("leaves", POINTER(c_void_p)),
        ("encode", c_void_p),
        ("relations", c_void_p),
        ("slots", c_void_p),
        ("sides", c_void_p * 2),
        ("labelled", c_void_p),
        ("unlabelled", c_void_p),
    )


class StepsStruct(ctypes.Structure):
    _fields_ = tuple(
        (name, c_void_p)
        for name in (
            *("heads", "modifiers", "relations", "scores", "margins", "label_margins", "lost_margins"),
            "relation_scores",
        )
    )


class TeacherStruct(ctypes.Structure):
    _fields_ = (
        ("heads", c_void_p),
        ("relations", c_void_p),
        ("margin", c_float),
        ("explore_prob", c_double),
        ("random", c_void_p),
    )


class ExploredStruct(ctypes.Structure):
    _fields_ = (
        *((name, c_void_p) for name in ("sides", "before", "modifiers", "relations", "windows", "actions", "losses")),
        ("n_violations", c_int64),
    )


class DecisionStruct(ctypes.Structure):
    _fields_ = (
        *((name, c_int32) for name in ("left", "side", "relation", "outside", "width")),
        ("next", POINTER(c_int32)),
        ("previous", POINTER(c_int32)),
        ("scores", POINTER(c_float)),
    )


OBSERVE = ctypes.CFUNCTYPE(None, POINTER(DecisionStruct))


class CountsStruct(ctypes.Structure):
    """What the loop did: attachments made, attachments worked out, and passes over the weights."""

    _fields_ = (("attachments", c_int64), ("computed", c_int64), ("passes", c_int64))


STRUCTURES = (
    BlockStruct,
    LayerStruct,
    EncoderStruct,
    WordsStruct,
    MemberStruct,
    StepsStruct,
    TeacherStruct,
    ExploredStruct,
    DecisionStruct,
    CountsStruct,
)
STATUS: Any = c_int32
_VOID: Any = None
SIGNATURES: Mapping[str, tuple[Any, ...]] = {  # the result, then the arguments
    "workspace_new": (c_void_p, c_uint64),
    "workspace_free": (_VOID, c_void_p),
    "matrix_new": (STATUS, c_int32, c_int32, c_int32, POINTER(c_void_p)),
    "matrix_fill": (STATUS, c_void_p, POINTER(BlockStruct), c_int32),
    "matrix_view": (STATUS, c_void_p, *[c_int32] * 4, POINTER(c_void_p)),
    "matrix_free": (_VOID, c_void_p),
    "product": (STATUS, c_void_p, c_void_p, c_int32, c_void_p, c_void_p),
    "encode": (STATUS, POINTER(EncoderStruct), c_void_p, POINTER(WordsStruct), c_int32, c_void_p),
    "parse": (
        STATUS,
        POINTER(POINTER(MemberStruct)),
        c_int32,
        c_void_p,
        POINTER(WordsStruct),
        c_int32,
        c_int32,
        POINTER(StepsStruct),
        OBSERVE,
        POINTER(CountsStruct),
    ),
    "explore": (
        STATUS,
        POINTER(MemberStruct),
        c_void_p,
        c_int32,
        c_void_p,
        c_void_p,
        c_int32,
        POINTER(TeacherStruct),
        POINTER(ExploredStruct),
        POINTER(CountsStruct),
    ),
    "activate": (_VOID, POINTER(c_float), c_int32, c_int32),
}


class _Table(ctypes.Structure):
    _fields_ = (
        ("isa", c_char_p),
        ("sizes", c_int32 * len(STRUCTURES)),
        *((name, ctypes.CFUNCTYPE(*signature)) for name, signature in SIGNATURES.items()),
    )


class Core:
    """The functions of the library for one instruction set. Threads may share it."""

    def __init__(self, library: ctypes.CDLL, isa: str | None) -> None:
        """Take the functions for the instruction set ``isa``, or for the best that this machine runs."""
        library.ef_functions_for.restype = POINTER(_Table)
        library.ef_functions_for.argtypes = [c_char_p]
        table = library.ef_functions_for(None if isa is None else isa.encode())
        if not table:
            here = ", ".join(name for name in ISAS if library.ef_functions_for(name.encode()))
            raise ConfigError(f"{ISA_VARIABLE} is {isa!r}; on this machine it must be one of {here}")
        functions = table.contents
        if tuple(functions.sizes) != tuple(map(ctypes.sizeof, STRUCTURES)):
            raise OSError("the compiled core is of another version")
        self._library = library  # keeps it loaded
        self._threads = threading.local()  # the free workspaces of each thread, which end with it
        self.isa: str = functions.isa.decode()
        for name in SIGNATURES:
            setattr(self, f"_{name}", getattr(functions, name))

    def function(self, name: str) -> Any:
        """Return a function of the table."""
        return getattr(self, f"_{name}")

    @contextmanager
    def workspace(self) -> Generator[int]:
        """Lend a workspace, which only one call may use at a time."""
        free: list[Workspace] = self._threads.__dict__.setdefault("free", [])
        workspace = free.pop() if free else Workspace(self)
        try:
            yield workspace.address
        finally:
            free.append(workspace)

    def new_workspace(self, limit: int = 0) -> int:
        """Make a workspace, which may take ``limit`` bytes of memory (0: any number)."""
        workspace: int | None = self.function("workspace_new")(limit)
        if workspace is None:
            raise MemoryError("the compiled core cannot allocate memory")
        return workspace

    def frees(self, owner: object, function: str, address: int) -> None:
        """Call a function of the table with an address when its owner is gone. When the interpreter exits, the memory
        is left to the system: threads may still be at work in the core."""
        weakref.finalize(owner, self.function(function), address).atexit = False

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the table that returns a status, and raise an error if it failed."""
        check(getattr(self, f"_{name}")(*arguments))


class Workspace:
    """The memory of one call at a time."""

    def __init__(self, core: Core) -> None:
        self.address = core.new_workspace()
        core.frees(self, "workspace_free", self.address)


def check(status: int) -> None:
    """Raise the exception for a status other than success."""
    if status == NO_MEMORY:
        raise MemoryError("the compiled core cannot allocate memory")
    if status == NOT_FINITE:
        raise ModelError("the model computes scores that are not finite numbers; its weights are corrupted")
    if status == BAD_INPUT:
        raise ValueError("the compiled core was given a length, a size or a row number that is out of range")


@lru_cache(maxsize=8)
def _load(path: str, isa: str | None) -> Core | str:
    """Return the core, or why it cannot be used."""
    try:
        return Core(ctypes.CDLL(path), isa)
    except (OSError, AttributeError) as error:
        return f"{path} cannot be loaded: {error}"


def _find() -> Core | str:
    if given := os.environ.get(LIBRARY_VARIABLE):
        path: Path | None = Path(given)
    else:
        path = next((file for name in NAMES if (file := Path(__file__).parent / name).is_file()), None)
    if path is None:
        return "this installation has no compiled core; install a C compiler, then reinstall easyfirst"
    return _load(str(path), os.environ.get(ISA_VARIABLE) or None)


def find_core() -> Core | None:
    """Return the compiled core, or None if this installation has none that works here."""
    found = _find()
    return None if isinstance(found, str) else found


def why_missing() -> str | None:
    """Return why there is no compiled core, or None if there is one."""
    found = _find()
    return found if isinstance(found, str) else None
