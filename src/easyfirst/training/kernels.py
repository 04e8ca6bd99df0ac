"""LSTMs with hand-written derivatives: a whole sequence, or a whole set of trees, as one differentiable function.

A recurrent network is many small operations, and PyTorch spends more time on tracking each than on computing it. These
two functions do the same maths as ``easyfirst.nn`` (tests compare values and gradients) in NumPy, on the memory of the
tensors. The gradient of a weight matrix takes one product instead of one for each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn.activations import lstm_gates_, tanh
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.rnn import Layer
from easyfirst.nn.tree_levels import Level
from easyfirst.nn.trees import LEFT, RIGHT

Stacks = Sequence[Sequence[Layer]]  # the layers of RNN_L and RNN_R, and of the pair that reads inward if there is one


def gates_of(gates: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return views of the forget, input, output and candidate gates."""
    dim = gates.shape[-1] // 4
    return gates[..., :dim], gates[..., dim : 2 * dim], gates[..., 2 * dim : 3 * dim], gates[..., 3 * dim :]


def step(z: Floats, c_before: Floats | None, c: Floats, tanh_c: Floats, h: Floats) -> None:
    """Write the next state into ``c``, ``tanh_c`` and ``h``. ``z``: the pre-activations, which become the gates."""
    lstm_gates_(z, c.shape[-1])
    f, i, o, g = gates_of(z)
    np.multiply(i, g, out=c)
    if c_before is not None:
        c += f * c_before
    tanh(c, out=tanh_c)
    np.multiply(o, tanh_c, out=h)


def slopes_of(gates: Floats, tanh_c: Floats, c_before: Floats) -> tuple[Floats, Floats]:
    """Return two derivatives: of c by the pre-activations of the forget, input and candidate gates and of h by the
    output gate's (in one array), and of h by c."""
    f, i, o, g = gates_of(gates)
    slopes = np.empty_like(gates)
    of_f, of_i, of_o, of_g = gates_of(slopes)
    sigmoids = gates[..., : 3 * f.shape[-1]]
    np.multiply(sigmoids, 1 - sigmoids, out=slopes[..., : 3 * f.shape[-1]])
    of_f *= c_before
    of_i *= g
    of_o *= tanh_c
    np.multiply(i, 1 - g * g, out=of_g)
    return slopes, o * (1 - tanh_c * tanh_c)


def step_back(slopes: Floats, h_by_c: Floats, grad_c: Floats, grad_h: Floats) -> None:
    """Add the gradient through h to ``grad_c``, and turn ``slopes`` into the gradient of the pre-activations."""
    grad_c += grad_h * h_by_c
    of_f, of_i, of_o, of_g = gates_of(slopes)
    of_f *= grad_c
    of_i *= grad_c
    of_o *= grad_h
    of_g *= grad_c


def joined(rows: Iterable[Ints]) -> Ints:
    """Concatenate rows, of which there may be none."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *rows])


class LstmLayer(torch.autograd.Function):
    """One layer over packed sequences in both directions: ``easyfirst.nn.sequences.run_layer`` for an LSTM.

    Words are ordered by time step, and sentences by length: the first ``n_active`` ones reach a step.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, recurrent: Tensor, bias: Tensor, n_active: list[int]) -> Tensor:
        z = np.matmul(x.numpy(), weights.numpy())  # (2, n_words, 4 * dim) the pre-activations, later the gates
        z += bias.numpy()
        c, tanh_c, h = (np.empty((2, z.shape[1], z.shape[2] // 4), dtype=z.dtype) for _ in range(3))
        times: list[tuple[slice, slice | None]] = []  # the words of each time step, and those before them
        before = begin = 0
        for n in n_active:
            times.append((slice(begin, begin + n), slice(before, before + n) if times else None))
            before, begin = begin, begin + n
        for now, then in times:
            z_now, c_before = z[:, now], None
            if then is not None:
                z_now += np.matmul(h[:, then], recurrent.numpy())
                c_before = c[:, then]
            step(z_now, c_before, c[:, now], tanh_c[:, now], h[:, now])
        ctx.times, ctx.states = times, (z, c, tanh_c, h)
        ctx.save_for_backward(x, weights, recurrent)
        return torch.from_numpy(h)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x_back, weights_back, recurrent_back = (np.swapaxes(tensor.numpy(), 1, 2) for tensor in ctx.saved_tensors)
        gates, c, tanh_c, h = ctx.states
        rows_before = joined(np.arange(then.start, then.stop) for _, then in ctx.times if then is not None)
        first = c.shape[1] - len(rows_before)  # the number of words of the first time step
        c_before = np.zeros_like(c)
        c_before[:, first:] = c[:, rows_before]
        grad_z, h_by_c = slopes_of(gates, tanh_c, c_before)
        grad_h, grad_c = grads[0].numpy().copy(), np.zeros_like(c)
        forget, *_ = gates_of(gates)
        for now, then in reversed(ctx.times):
            step_back(grad_z[:, now], h_by_c[:, now], grad_c[:, now], grad_h[:, now])
            if then is not None:
                grad_h[:, then] += np.matmul(grad_z[:, now], recurrent_back)
                grad_c[:, then] += grad_c[:, now] * forget[:, now]
        return (
            torch.from_numpy(np.matmul(grad_z, weights_back)),
            torch.from_numpy(np.matmul(x_back, grad_z)),
            torch.from_numpy(np.matmul(np.swapaxes(h[:, rows_before], 1, 2), grad_z[:, first:])),
            torch.from_numpy(grad_z.sum(axis=1, keepdims=True)),
            None,
        )


@dataclass(frozen=True, slots=True)
class _TreeRun:
    """The forward pass, kept for the backward pass. Attachments (n) are ordered by level."""

    levels: Sequence[Level]
    n_leaves: int
    pool: Floats  # (n_leaves + n, state)
    c: Floats  # (n, node_dim) of the modifiers; zeros for heads
    encoded: Floats  # (n, vector_dim) the inputs: enc(modifier), or the vector of a head
    gates: list[Floats]  # (n, 4 * dim) of each layer
    tanh_c: list[Floats]  # (n, dim) of each layer

    @classmethod
    def of(cls, leaves: Floats, relations: Floats, encode: Floats, levels: Sequence[Level], stacks: Stacks) -> _TreeRun:
        """Compute all states, from the leaves up."""
        layers = stacks[0]
        n, dim = len(relations), layers[0].dim
        n_leaves, width = leaves.shape
        pool = np.empty((n_leaves + n, width), dtype=leaves.dtype)
        pool[:n_leaves] = leaves
        c = np.empty((n, len(encode)), dtype=pool.dtype)
        gates = [np.empty((n, 4 * dim), dtype=pool.dtype) for _ in layers]
        tanh_c = [np.empty((n, dim), dtype=pool.dtype) for _ in layers]
        run = cls(levels, n_leaves, pool, c, relations.copy(), gates, tanh_c)
        for level in levels:
            run._climb(level, encode, stacks[level.stack])
        return run

    @property
    def dim(self) -> int:
        return self.tanh_c[0].shape[1]

    def columns(self, k: int) -> tuple[slice, slice]:
        """Return the columns of c and h of a layer in a state."""
        begin, dim = 2 * k * self.dim, self.dim
        return slice(begin, begin + dim), slice(begin + dim, begin + 2 * dim)

    def above(self, rows: slice) -> slice:
        """Return the places in the pool of the states after attachments."""
        return slice(self.n_leaves + rows.start, self.n_leaves + rows.stop)

    def _climb(self, level: Level, encode: Floats, layers: Sequence[Layer]) -> None:
        now, side, dim = level.rows, level.side, self.dim
        c, x = self.c[now], self.encoded[now]
        if level.modifiers is None:
            c[:] = 0
        else:
            by_part = c.reshape(len(c), -1, dim)
            np.take(self.pool[:, -dim:], level.modifiers, axis=0, out=by_part, mode="clip")
            x += np.matmul(c, encode)
            tanh(x, out=x)
        old, new = self.pool[level.before], self.pool[self.above(now)]
        for k, layer in enumerate(layers):
            in_c, in_h = self.columns(k)
            z = np.matmul(x, layer.input[side], out=self.gates[k][now])
            z += np.matmul(old[:, in_h], layer.recurrent[side])
            z += layer.bias[side]
            x = new[:, in_h]
            step(z, old[:, in_c], new[:, in_c], self.tanh_c[k][now], x)


@dataclass(frozen=True, slots=True)
class _TreeGradient:
    """The gradients of a forward pass, computed from the top down."""

    run: _TreeRun
    before: Floats  # (n, state) the states of the heads before their attachments
    pool: Floats  # (n_leaves + n, state)
    encoded: Floats  # (n, vector_dim) of W^e (c ∘ relation) + b, or of the vector of a head
    z: list[Floats]  # (n, 4 * dim) of each layer's pre-activations

    @classmethod
    def of(cls, run: _TreeRun, pool: Floats, encode: Floats, stacks: Stacks) -> _TreeGradient:
        """Compute all gradients. ``pool``: the gradient of the loss by all states; overwritten."""
        before = run.pool[joined(level.before for level in run.levels)]
        pairs = [slopes_of(run.gates[k], run.tanh_c[k], before[:, run.columns(k)[0]]) for k in range(len(run.gates))]
        h_by_c = [of_c for _, of_c in pairs]
        gradient = cls(run, before, pool, 1 - run.encoded * run.encoded, [of_gates for of_gates, _ in pairs])
        for level in reversed(run.levels):
            gradient._descend(level, h_by_c, encode, stacks[level.stack])
        return gradient

    def _descend(self, level: Level, h_by_c: Sequence[Floats], encode: Floats, layers: Sequence[Layer]) -> None:
        run, now, side, dim = self.run, level.rows, level.side, self.run.dim
        after = self.pool[run.above(now)]
        before = np.empty_like(after)
        for k in reversed(range(len(layers))):
            in_c, in_h = run.columns(k)
            z, grad_c = self.z[k][now], after[:, in_c]
            step_back(z, h_by_c[k][now], grad_c, after[:, in_h])
            np.multiply(grad_c, run.gates[k][now, :dim], out=before[:, in_c])
            before[:, in_h] = np.matmul(z, layers[k].recurrent[side].T)
            grad_x = np.matmul(z, layers[k].input[side].T)
            if k:
                _, in_x = run.columns(k - 1)
                after[:, in_x] += grad_x
            elif level.modifiers is None:
                self.encoded[now] = grad_x
            else:
                self.encoded[now] *= grad_x
        self.pool[level.before] += before  # every version has at most one successor, except for the zero state
        if level.modifiers is None:
            return
        of_modifiers = np.matmul(self.encoded[now], encode.T).reshape(-1, dim)
        self.pool[level.modifiers.reshape(-1), -dim:] += of_modifiers  # and is a modifier at most once in a level

    def of_layers(self, n_stacks: int) -> list[Floats]:
        """Return the gradients of each layer's input weights, recurrent weights and bias, stack by stack."""
        run = self.run
        grads: list[Floats] = []
        for stack, k in product(range(n_stacks), range(len(self.z))):
            by_side = [
                joined(
                    np.arange(of.rows.start, of.rows.stop) for of in run.levels if (of.stack, of.side) == (stack, side)
                )
                for side in (LEFT, RIGHT)
            ]
            x = run.encoded if k == 0 else run.pool[run.n_leaves :, run.columns(k - 1)[1]]
            h, z = self.before[:, run.columns(k)[1]], [self.z[k][rows] for rows in by_side]
            grads += [
                np.stack([x[rows].T @ z[side] for side, rows in enumerate(by_side)]),
                np.stack([h[rows].T @ z[side] for side, rows in enumerate(by_side)]),
                np.stack([part.sum(axis=0, keepdims=True) for part in z]),
            ]
        return grads


def _stacks(weights: Sequence[Tensor], width: int) -> list[list[Layer]]:
    """Return the layers of each stack. ``width``: that of a state."""
    arrays = [tensor.numpy() for tensor in weights]
    layers = [Layer(*arrays[at : at + 3]) for at in range(0, len(arrays), 3)]
    n_layers = width // (2 * layers[0].dim)
    return [layers[at : at + n_layers] for at in range(0, len(layers), n_layers)]


class LstmTrees(torch.autograd.Function):
    """All states above the leaves, level by level: ``easyfirst.nn.trees.attach`` for an LSTM.

    Arguments: the leaves' states (left ones, then right ones; or the zero state alone), rows of the relation table for
    every attachment (or vectors of heads), W^e's part that reads c, the levels, and for each layer of each stack its
    input and recurrent weights and bias. Returns the whole pool.
    """

    @staticmethod
    def forward(
        ctx: Any, leaves: Tensor, relations: Tensor, encode: Tensor, levels: Sequence[Level], *weights: Tensor
    ) -> Tensor:
        stacks = _stacks(weights, leaves.shape[1])
        ctx.run = _TreeRun.of(leaves.numpy(), relations.numpy(), encode.numpy(), levels, stacks)
        ctx.save_for_backward(encode, *weights)
        return torch.from_numpy(ctx.run.pool)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        encode, *weights = ctx.saved_tensors
        run: _TreeRun = ctx.run
        stacks = _stacks(weights, run.pool.shape[1])
        gradient = _TreeGradient.of(run, grads[0].numpy().copy(), encode.numpy(), stacks)
        return (
            torch.from_numpy(gradient.pool[: run.n_leaves]),
            torch.from_numpy(gradient.encoded),
            torch.from_numpy(run.c.T @ gradient.encoded),
            None,
            *map(torch.from_numpy, gradient.of_layers(len(stacks))),
        )
