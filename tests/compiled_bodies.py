"""Small kernels for the tests of what compiles and loads kernels."""

from typing import NamedTuple

import numpy as np

from cer_gpu.compiling.instruction import prefetch
from cer_gpu.compiling.kernel import inline, jit

FACTOR = 3


class Pair(NamedTuple):
    values: np.ndarray
    at: int


class Nested(NamedTuple):
    pair: Pair
    scale: float


@inline
def times(value):
    return value * FACTOR


@jit
def total(values, scale):
    found = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            found += values[i, j]
    return found * scale


@jit
def moved(values, place, out):
    for i in range(values.shape[0]):
        prefetch(place, np.uint64(i))
        prefetch(out, (place[i], 0))
        out[place[i], 0] = values[i]


@jit
def plus(pair, number):
    return pair.values[pair.at] + number


@jit
def scaled(nested, more):
    return nested.pair.values[nested.pair.at] * nested.scale + more.at, nested.pair.at, more.at > 2


@jit
def three_times(values):
    for i in range(values.shape[0]):
        values[i] = times(values[i])


@jit
def same(number):
    return number


@jit
def until_halted(count, halt):
    at = 0
    while halt[0] == 0:
        count[0] += 1
        at += 1
        if at == 1 << 40:
            break
    return at


@jit
def divided(number, by):
    return number // by
