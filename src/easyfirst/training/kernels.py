"""LSTMs with their derivatives written out: a whole sequence, or a whole set of trees, as one step of differentiation.

Recurrent networks are many small operations, and PyTorch spends more on keeping track of each than on doing it. These
two functions do the same maths as ``easyfirst.nn`` (tests hold them equal, gradients included) in NumPy, on the
memory of the tensors, and multiply for the gradient of a matrix once and not at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn.activations import lstm_gates_, tanh
from easyfirst.nn.trees import LEFT, RIGHT


def _gates(gates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    dim = gates.shape[-1] // 4
    return gates[..., :dim], gates[..., dim : 2 * dim], gates[..., 2 * dim : 3 * dim], gates[..., 3 * dim :]


def _slopes(gates: np.ndarray, tanh_c: np.ndarray, c_before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How c reacts to the pre-activations of forget, input and candidate gate and h to the output gate's (all in one
    array), and how h reacts to c."""
    f, i, o, g = _gates(gates)
    slopes = np.empty_like(gates)
    of_f, of_i, of_o, of_g = _gates(slopes)
    sigmoids = gates[..., : 3 * f.shape[-1]]
    np.multiply(sigmoids, 1 - sigmoids, out=slopes[..., : 3 * f.shape[-1]])
    of_f *= c_before
    of_i *= g
    of_o *= tanh_c
    np.multiply(i, 1 - g * g, out=of_g)
    return slopes, o * (1 - tanh_c * tanh_c)


class LstmLayer(torch.autograd.Function):
    """One layer over packed sequences, both directions: ``easyfirst.nn.words.run_layer`` for an LSTM."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, recurrent: Tensor, bias: Tensor, n_active: list[int]) -> Tensor:
        gates = np.matmul(x.numpy(), weights.numpy())  # (2, n_words, 4 * dim)
        gates += bias.numpy()
        _, n_words, dim = gates.shape[0], gates.shape[1], gates.shape[2] // 4
        h, c, tanh_c = (np.empty((2, n_words, dim), dtype=gates.dtype) for _ in range(3))
        before = begin = 0
        for n in n_active:
            now, then = slice(begin, begin + n), slice(before, before + n)
            z = gates[:, now]
            if begin:
                z += np.matmul(h[:, then], recurrent.numpy())
            lstm_gates_(z, dim)
            f, i, o, g = _gates(z)
            np.multiply(i, g, out=c[:, now])
            if begin:
                c[:, now] += f * c[:, then]
            tanh(c[:, now], out=tanh_c[:, now])
            np.multiply(o, tanh_c[:, now], out=h[:, now])
            before, begin = begin, begin + n
        ctx.save_for_backward(x, weights, recurrent)
        ctx.arrays, ctx.n_active = (gates, h, c, tanh_c), n_active
        return torch.from_numpy(h)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, weights, recurrent = (tensor.numpy() for tensor in ctx.saved_tensors)
        gates, h, c, tanh_c = ctx.arrays
        dim = h.shape[-1]
        n_active: list[int] = ctx.n_active
        first = n_active[0]
        starts = np.cumsum([0, *n_active]).tolist()
        rows_before = np.concatenate([np.arange(s, s + n) for s, n in zip(starts, n_active[1:], strict=False)] or [[]])
        c_before = np.zeros_like(c)
        c_before[:, first:] = c[:, rows_before.astype(np.int64)]
        slopes, h_by_c = _slopes(gates, tanh_c, c_before)
        grad_h = grads[0].numpy().copy()
        recurrent_back = np.swapaxes(recurrent, 1, 2)
        grad_c = np.zeros_like(c)
        for begin, n in zip(reversed(starts[:-1]), reversed(n_active), strict=True):
            now = slice(begin, begin + n)
            grad_c[:, now] += grad_h[:, now] * h_by_c[:, now]
            z = slopes[:, now]  # becomes the gradient of the pre-activations
            of_f, of_i, of_o, of_g = _gates(z)
            of_f *= grad_c[:, now]
            of_i *= grad_c[:, now]
            of_o *= grad_h[:, now]
            of_g *= grad_c[:, now]
            if begin:
                before = begin - n_active[starts.index(begin) - 1]
                then = slice(before, before + n)
                grad_h[:, then] += np.matmul(z, recurrent_back)
                grad_c[:, then] += grad_c[:, now] * gates[:, now, :dim]
        h_before = h[:, rows_before.astype(np.int64)]
        return (
            torch.from_numpy(np.matmul(slopes, np.swapaxes(weights, 1, 2))),
            torch.from_numpy(np.matmul(np.swapaxes(x, 1, 2), slopes)),
            torch.from_numpy(np.matmul(np.swapaxes(h_before, 1, 2), slopes[:, first:])),
            torch.from_numpy(slopes.sum(axis=1, keepdims=True)),
            None,
        )


class LstmTrees(torch.autograd.Function):
    """All states above the leaves, level by level: what ``easyfirst.nn.trees.attach`` does to each head, for an LSTM.

    Arguments: the leaves' states (left ones, then right ones), rows of the relation table for every attachment, W^e's
    part that reads c, the levels, and for each layer its input and recurrent weights and bias. Returns the whole pool.
    """

    @staticmethod
    def forward(
        ctx: Any, leaves: Tensor, relations: Tensor, encode: Tensor, levels: Sequence[Any], *layers: Tensor
    ) -> Tensor:
        dim = layers[1].shape[1]
        n_leaves, width = leaves.shape
        n = len(relations)
        pool = np.empty((n_leaves + n, width), dtype=leaves.numpy().dtype)
        pool[:n_leaves] = leaves.numpy()
        weights = [layer.numpy() for layer in layers]
        c = np.empty((n, 2 * dim), dtype=pool.dtype)
        encoded = relations.numpy().copy()
        gates = [np.empty((n, 4 * dim), dtype=pool.dtype) for _ in weights[::3]]
        tanh_c = [np.empty((n, dim), dtype=pool.dtype) for _ in weights[::3]]
        for level in levels:
            now = slice(level.begin, level.begin + len(level.before))
            np.take(pool[:, -dim:], level.modifiers, axis=0, out=c[now].reshape(-1, 2, dim), mode="clip")
            x = encoded[now]
            x += np.matmul(c[now], encode.numpy())
            tanh(x, out=x)
            before = pool[level.before]
            after = pool[n_leaves + now.start : n_leaves + now.stop]
            for k in range(len(gates)):
                layer_input, recurrent, bias = weights[3 * k : 3 * k + 3]
                old, new = (rows[:, 2 * k * dim : 2 * (k + 1) * dim] for rows in (before, after))
                z = np.matmul(x, layer_input[level.side], out=gates[k][now])
                z += np.matmul(old[:, dim:], recurrent[level.side])
                z += bias[level.side]
                lstm_gates_(z, dim)
                f, i, o, g = _gates(z)
                np.multiply(i, g, out=new[:, :dim])
                new[:, :dim] += f * old[:, :dim]
                tanh(new[:, :dim], out=tanh_c[k][now])
                x = np.multiply(o, tanh_c[k][now], out=new[:, dim:])
        ctx.save_for_backward(encode, *layers)
        ctx.levels, ctx.n_leaves = levels, n_leaves
        ctx.arrays = pool, c, encoded, gates, tanh_c
        return torch.from_numpy(pool)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        encode, *weights = (tensor.numpy() for tensor in ctx.saved_tensors)
        pool, c, encoded, gates, tanh_c = ctx.arrays
        levels, n_leaves, n_layers = ctx.levels, ctx.n_leaves, len(gates)
        n, dim = len(c), c.shape[1] // 2
        before = np.concatenate([level.before for level in levels]) if levels else np.zeros(0, dtype=np.int64)
        old = pool[before]  # (n, state)
        slopes, h_by_c = zip(
            *(_slopes(gates[k], tanh_c[k], old[:, 2 * k * dim : (2 * k + 1) * dim]) for k in range(n_layers)), strict=True
        )
        grad_pool = grads[0].numpy().copy()
        grad_encoded = 1 - encoded * encoded
        for level in reversed(levels):
            now = slice(level.begin, level.begin + len(level.before))
            grad = grad_pool[n_leaves + now.start : n_leaves + now.stop]
            grad_before = np.empty_like(grad)
            for k in reversed(range(n_layers)):
                grad_c, grad_h = grad[:, 2 * k * dim : (2 * k + 1) * dim], grad[:, (2 * k + 1) * dim : (2 * k + 2) * dim]
                grad_c += grad_h * h_by_c[k][now]
                z = slopes[k][now]
                of_f, of_i, of_o, of_g = _gates(z)
                of_f *= grad_c
                of_i *= grad_c
                of_o *= grad_h
                of_g *= grad_c
                np.multiply(grad_c, gates[k][now, :dim], out=grad_before[:, 2 * k * dim : (2 * k + 1) * dim])
                grad_before[:, (2 * k + 1) * dim : (2 * k + 2) * dim] = np.matmul(z, weights[3 * k + 1][level.side].T)
                grad_x = np.matmul(z, weights[3 * k][level.side].T)
                if k:
                    grad[:, (2 * k - 1) * dim : 2 * k * dim] += grad_x
                else:
                    grad_encoded[now] *= grad_x
            grad_pool[level.before] += grad_before  # every version has at most one successor
            grad_modifiers = np.matmul(grad_encoded[now], encode.T).reshape(-1, dim)
            grad_pool[level.modifiers.reshape(-1), -dim:] += grad_modifiers  # and is a modifier's at most once
        of_side = [np.concatenate([np.arange(v.begin, v.begin + len(v.before)) for v in levels if v.side == side] or
                                  [np.zeros(0, dtype=np.int64)]) for side in (LEFT, RIGHT)]
        grad_layers: list[Tensor] = []
        x = encoded
        for k in range(n_layers):
            z = [slopes[k][rows] for rows in of_side]
            h = old[:, (2 * k + 1) * dim : (2 * k + 2) * dim]
            grad_layers += [
                torch.from_numpy(np.stack([x[rows].T @ z[side] for side, rows in enumerate(of_side)])),
                torch.from_numpy(np.stack([h[rows].T @ z[side] for side, rows in enumerate(of_side)])),
                torch.from_numpy(np.stack([part.sum(axis=0, keepdims=True) for part in z])),
            ]
            x = pool[n_leaves:, (2 * k + 1) * dim : (2 * k + 2) * dim]
        return (
            torch.from_numpy(grad_pool[:n_leaves]),
            torch.from_numpy(grad_encoded),
            torch.from_numpy(c.T @ grad_encoded),
            None,
            *grad_layers,
        )
