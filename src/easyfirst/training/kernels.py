"""LSTMs with hand-written derivatives: a whole sequence, or a whole set of trees, as one differentiable function.

A recurrent network is many small operations, and PyTorch spends more time on tracking each than on computing it. These
two functions do the same maths as ``easyfirst.nn`` (tests compare values and gradients) in NumPy, on the memory of the
tensors. The gradient of a weight matrix takes one product instead of one for each step. The function for trees is in
``easyfirst.training.tree_kernel``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn.activations import lstm_gates_, tanh
from easyfirst.nn.arrays import Floats, Ints


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
