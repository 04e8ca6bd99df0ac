"""Encoders of the core: embeddings, spelling and BiLSTMs of the parser, the tagger and the tokenizer."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from easyfirst.native.layout import ONE_ROW, Block, Packed, Places, blocks_of, exponents, gate_blocks, spread
from easyfirst.native.library import Core, EncoderStruct, LayerStruct, WordsStruct
from easyfirst.native.matrix import Filled
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.characters import CharacterWeights, Spelling
from easyfirst.nn.rnn import Layer
from easyfirst.nn.words import WordIds, WordWeights

GROUP = 16
"""How many sequences are read in lock step: enough rows for the products to be as fast as they get."""

Int32s = npt.NDArray[np.int32]


def addresses(items: Sequence[int | None]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(items)))(*items)


class Encoder:
    """A network that turns sequences into vectors, one for each row. Threads may share it."""

    def __init__(
        self,
        core: Core,
        *,
        tables: Sequence[Floats] = (),
        form_dim: int = 0,
        characters: CharacterWeights | None = None,
        project: tuple[Floats, Floats] | None = None,
        stacks: Sequence[Sequence[Layer]] = (),
        width: int | None = None,
        precision: str,
    ) -> None:
        """Compile embeddings (rows of ``tables``, then ``form_dim`` numbers that come with each form, then the spelling
        of forms), a projection with its bias, and stacks of LSTM layers, each of which reads both directions of the one
        below. ``width``: that of vectors which are given instead of embeddings. A single table that nothing but a stack
        reads is multiplied with its input weights once and for all."""
        self._core = core
        self._precision = "int8" if precision == "int8-fast" else precision  # errors of 7 bits add up in a sequence
        self._kept: list[Any] = []
        self._reads = len(tables), form_dim, characters is not None, width
        self.spelling = None
        dims = (*(table.shape[1] for table in tables), form_dim) if width is None else (width,)
        places = Places.of(*dims, padded=False)
        if characters is not None:
            layers = [characters.layers]
            self.spelling = Encoder(core, tables=[characters.embedding], stacks=layers, precision=precision)
            places = places.beside(self.spelling.places)
        looks_up = len(tables) == 1 and not form_dim and characters is None and project is None and bool(stacks)
        embedding = tables[0] if looks_up else None
        packed = [] if looks_up else [self._keep(np.ascontiguousarray(table, dtype=np.float32)) for table in tables]
        input_dim = places.size
        projection = None
        if project is not None:
            weights, bias = project
            half = weights.shape[1] // 2
            columns = Places.of(half, half)
            blocks = [*blocks_of(weights, columns, places), *blocks_of(bias[None], columns, ONE_ROW, row=places.size)]
            projection = self._matrix((places.size, columns.size), blocks)
            places = columns
        made: list[LayerStruct] = []
        for layers in stacks:
            for number, layer in enumerate(layers):
                made.append(self._layer(layer, places, number == 0, embedding))
                embedding, places = None, Places.of(layer.dim, layer.dim)
        self.places = places
        rows, widths = [len(table) for table in packed], [table.shape[1] for table in packed]
        self.struct = EncoderStruct(
            len(packed),
            self._keep(addresses([table.ctypes.data for table in packed])),
            self._keep((ctypes.c_int32 * max(1, len(rows)))(*rows)),
            self._keep((ctypes.c_int32 * max(1, len(widths)))(*widths)),
            form_dim,
            None if self.spelling is None else ctypes.addressof(self.spelling.struct),
            projection,
            len(made),
            self._keep((LayerStruct * max(1, len(made)))(*made)),
            input_dim,
            places.size,
        )

    @classmethod
    def of_words(cls, core: Core, weights: WordWeights, precision: str) -> Encoder:
        """Compile the word encoder of a parser (``easyfirst.nn.words.encode_words``)."""
        external = () if weights.external is None else (weights.external,)
        return cls(
            core,
            tables=[weights.words, *external, *weights.tags],
            form_dim=weights.contextual_dim,
            characters=weights.characters,
            project=(weights.project, weights.bias),
            stacks=weights.stacks,
            precision=precision,
        )

    def read(
        self,
        lengths: Sequence[int] | Ints,
        ids: Sequence[Ints] = (),
        *,
        forms: Ints | None = None,
        form_vectors: Floats | None = None,
        spelling: Spelling | None = None,
        vectors: Floats | None = None,
        group: int = GROUP,
    ) -> npt.NDArray[np.float32]:
        """Encode sequences, longest first: (n_rows, dim). ``ids`` has the rows of each table; ``vectors`` are given
        instead of embeddings."""
        given = Given.of(lengths, ids, forms=forms, form_vectors=form_vectors, spelling=spelling, vectors=vectors)
        return self.read_given(given, group=group)

    def read_given(self, given: Given, *, group: int = GROUP) -> npt.NDArray[np.float32]:
        """Encode sequences that are converted, which several encoders can share."""
        self.check(given)
        out = np.empty((given.n_rows, self.places.size), dtype=np.float32)
        with self._core.workspace() as workspace:
            self._core.call("encode", self.struct, workspace, given.struct, group, out.ctypes.data)
        return out if self.places.is_plain else out[:, self.places.where]

    def check(self, given: Given) -> None:
        """Raise a ValueError if sequences lack what this encoder reads, which the core could not notice."""
        n_tables, form_dim, has_characters, width = self._reads
        if width is not None:
            is_complete = given.vectors is not None and given.vectors.shape[1:] == (width,)
        else:
            is_complete = (
                given.vectors is None
                and given.n_tables == n_tables
                and (given.forms is not None or not (form_dim or has_characters))
                and (not form_dim or (given.form_vectors is not None and given.form_vectors.shape[1:] == (form_dim,)))
                and (not has_characters or given.characters is not None)
            )
        if not is_complete:
            raise ValueError("the sequences do not have the inputs that the encoder reads")

    def _keep(self, item: Any) -> Any:
        self._kept.append(item)
        return item

    def _matrix(self, shape: tuple[int, int], blocks: Sequence[Block]) -> int:
        return self._keep(Filled(self._core, shape, blocks, self._precision)).address

    def _layer(self, layer: Layer, places: Places, is_joint: bool, embedding: Floats | None) -> LayerStruct:
        """Compile a layer that reads vectors laid out as ``places``: both directions all of it (the first layer of a
        stack), or each its own half."""
        dim = layer.dim
        own = Places.of(dim)
        gates = 4 * own.size  # of one direction
        struct = LayerStruct(dim=own.size, is_joint=int(is_joint))
        struct.recurrent[:] = [
            self._matrix((own.size, gates), gate_blocks(layer.recurrent[side], dim, own)) for side in (0, 1)
        ]
        if embedding is not None:
            table = self._table(embedding, layer)
            struct.table, struct.n_rows = self._keep(table).ctypes.data, len(table)
            return struct
        rows = places if is_joint else own
        blocks = [
            [*gate_blocks(layer.input[side], dim, rows), *gate_blocks(layer.bias[side], dim, ONE_ROW, row=rows.size)]
            for side in (0, 1)
        ]
        if is_joint:
            joint = [*blocks[0], *(block._replace(column=block.column + gates) for block in blocks[1])]
            struct.input[0] = self._matrix((rows.size, 2 * gates), joint)
        else:
            struct.input[:] = [self._matrix((rows.size, gates), of_side) for of_side in blocks]
        return struct

    def _table(self, embedding: Floats, layer: Layer) -> Packed:
        """Return what each row of an embedding table adds to the gates of both directions, with the bias."""
        columns = Places.of(*[layer.dim] * 4)
        sides = (exponents(embedding @ layer.input[side] + layer.bias[side], layer.dim) for side in (0, 1))
        return spread(np.concatenate(list(sides), axis=1), columns.beside(columns))


class Given(NamedTuple):
    """Sequences as the core takes them."""

    struct: WordsStruct
    n_rows: int
    n_tables: int
    vectors: Packed | None
    forms: Int32s | None
    form_vectors: Packed | None
    characters: Int32s | None
    kept: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        lengths: Sequence[int] | Ints,
        ids: Sequence[Ints] = (),
        *,
        forms: Ints | None = None,
        form_vectors: Floats | None = None,
        spelling: Spelling | None = None,
        vectors: Floats | None = None,
    ) -> Given:
        """Convert sequences. All that the core needs to know about their sizes is checked here."""
        sizes = np.array(lengths, dtype=np.int32)
        n_rows = int(sizes.sum(dtype=np.int64))
        if any(each is not None and len(each) != n_rows for each in (*ids, forms, vectors)):
            raise ValueError("the lengths of the sequences do not add up to the number of rows")
        rows = np.empty((len(ids), n_rows), dtype=np.int32) if ids else None
        for k, column in enumerate(ids):
            rows[k] = column  # pyright: ignore[reportOptionalSubscript]
        numbers = None if forms is None else np.array(forms, dtype=np.int32)
        characters = None if spelling is None else np.array(spelling.characters, dtype=np.int32)
        form_lengths = None if spelling is None else np.array(spelling.lengths, dtype=np.int32)
        given = None if vectors is None else np.ascontiguousarray(vectors, dtype=np.float32)
        of_forms = None if form_vectors is None else np.ascontiguousarray(form_vectors, dtype=np.float32)
        n_forms = {len(each) for each in (form_lengths, of_forms) if each is not None}
        if len(n_forms) > 1:
            raise ValueError("there must be as many vectors of forms as there are forms")
        if characters is not None and form_lengths is not None and len(characters) != form_lengths.sum(dtype=np.int64):
            raise ValueError("the lengths of the forms do not add up to the number of characters")
        struct = WordsStruct(
            len(sizes),
            *(None if each is None else each.ctypes.data for each in (sizes, rows, given, numbers)),
            max(n_forms, default=0),
            *(None if each is None else each.ctypes.data for each in (of_forms, characters, form_lengths)),
        )
        kept = (sizes, rows, form_lengths)
        return cls(struct, n_rows, len(ids), given, numbers, of_forms, characters, kept)

    @classmethod
    def of_words(cls, lengths: Sequence[int] | Ints, ids: WordIds) -> Given:
        """Convert the words of sentences, longest first."""
        external = () if ids.external is None else (ids.external,)
        tables = [ids.words, *external, *ids.tags]
        if ids.contextual is None:
            return cls.of(lengths, tables, forms=ids.forms, spelling=ids.spelling)
        if ids.forms is None or ids.spelling is None:
            return cls.of(lengths, tables, forms=np.arange(len(ids.words)), form_vectors=ids.contextual)
        # the core has one vector for each form, so every word becomes a form of its own, still longest first
        order = np.argsort(ids.forms, kind="stable")
        forms = np.empty_like(order)
        forms[order] = np.arange(len(order))
        spelling = ids.spelling.of(ids.forms[order])
        return cls.of(lengths, tables, forms=forms, form_vectors=ids.contextual[order], spelling=spelling)
