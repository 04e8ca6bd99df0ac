"""The network's array functions under PyTorch (see ``easyfirst.nn.namespace``), and the gradients of its matrices.

A recurrent network multiplies by the same matrix at every step, and plain differentiation would make, and add up, a
gradient of that matrix's size for each of them. Here the backward pass only notes the rows that met at each product,
and :meth:`WeightGradients.collect` makes one large product of them for each matrix.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from easyfirst.nn.namespace import Namespace


class WeightGradients:
    """Products by weights whose gradients are collected after the backward pass."""

    def __init__(self) -> None:
        self._noted: dict[tuple[Any, ...], tuple[Tensor, list[Tensor], list[Tensor]]] = {}
        self.namespace = Namespace(
            matmul=self._matmul,
            tanh=torch.tanh,
            sigmoid=torch.sigmoid,
            lstm=_Lstm.apply,
            concat=torch.concat,
            stack=torch.stack,
            embed=lambda table, ids: torch.nn.functional.embedding(ids, table, sparse=True),
            take=lambda x, rows: torch.index_select(x, 0, rows),
            index=torch.from_numpy,
        )

    def _matmul(self, x: Tensor, weights: Tensor) -> Tensor:
        return _Product.apply(x, weights, self)  # type: ignore[no-any-return]

    def note(self, weights: Tensor, x: Tensor, grad: Tensor) -> None:
        """Rows ``x`` were multiplied by ``weights``, and the product's gradient is ``grad``."""
        key = (weights.data_ptr(), weights.shape, weights.stride())
        _, inputs, grads = self._noted.setdefault(key, (weights, [], []))
        inputs.append(x)
        grads.append(grad)

    def collect(self) -> None:
        """Add what was noted to the ``grad`` of the parameters that the matrices are views of."""
        for weights, inputs, grads in self._noted.values():
            x = inputs[0] if len(inputs) == 1 else torch.concat(inputs, -2)
            grad = grads[0] if len(grads) == 1 else torch.concat(grads, -2)
            parameter = weights if weights._base is None else weights._base
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            view = parameter.grad.as_strided(weights.shape, weights.stride(), weights.storage_offset())
            view += x.mT @ grad
        self._noted.clear()


class _Product(torch.autograd.Function):
    """x @ weights, whose backward pass notes what the weights' gradient is made of."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, gradients: WeightGradients) -> Tensor:
        ctx.save_for_backward(x)
        ctx.weights, ctx.gradients = weights, gradients
        return x @ weights

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        weights: Tensor = ctx.weights.detach()
        grad: Tensor = grads[0]
        grad_x = grad @ weights.mT
        if grad_x.ndim > x.ndim:  # the same rows by both matrices
            grad_x = grad_x.sum(0)
            x = x.expand(2, *x.shape)
        ctx.gradients.note(ctx.weights, x, grad)
        return grad_x, None, None


class _Lstm(torch.autograd.Function):
    """``easyfirst.nn.rnn.lstm_gates`` with its derivative written out, because it is most of what training does."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, c: Tensor | None) -> Tensor:
        dim = z.shape[-1] // (3 if c is None else 4)
        gates = torch.empty_like(z)
        torch.sigmoid(z[..., :-dim], out=gates[..., :-dim])
        torch.tanh(z[..., -dim:], out=gates[..., -dim:])
        state = z.new_empty((*z.shape[:-1], 2 * dim))
        new_c, h = state[..., :dim], state[..., dim:]
        torch.mul(gates[..., -3 * dim : -2 * dim], gates[..., -dim:], out=new_c)
        if c is not None:
            new_c.addcmul_(gates[..., :dim], c)
        tanh_c = torch.tanh(new_c)
        torch.mul(gates[..., -2 * dim : -dim], tanh_c, out=h)
        ctx.save_for_backward(gates, tanh_c, c)
        return state

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        gates, tanh_c, c = ctx.saved_tensors
        dim = tanh_c.shape[-1]
        grad_h = grads[0][..., dim:]
        of_input, of_output, candidate = (gates[..., k * dim : (k + 1) * dim or None] for k in (-3, -2, -1))
        grad_z = torch.empty_like(gates)
        grad_c = torch.addcmul(grads[0][..., :dim], grad_h * of_output, 1 - tanh_c * tanh_c)
        torch.mul(grad_c, candidate, out=grad_z[..., -3 * dim : -2 * dim])
        torch.mul(grad_h, tanh_c, out=grad_z[..., -2 * dim : -dim])
        torch.mul(grad_c, of_input, out=grad_z[..., -dim:])
        grad_z[..., -dim:] *= 1 - candidate * candidate
        if c is not None:
            torch.mul(grad_c, c, out=grad_z[..., :dim])
        sigmoids = gates[..., :-dim]
        grad_z[..., :-dim] *= sigmoids * (1 - sigmoids)
        return grad_z, None if c is None else grad_c * gates[..., :dim]
