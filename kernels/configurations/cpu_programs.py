"""Programs over the values that configurations keep: comparisons of several, and running aggregates."""

import math

import numpy as np

from ..jit import inline, jit
from .contract import (
    BEGINS,
    BESIDE_REAL,
    COALESCED,
    CONSTANT,
    CONTAINS,
    DOWN,
    ENDS,
    FITS,
    IS_AT_MOST,
    IS_LESS,
    IS_OTHER,
    IS_SAME,
    LOAD,
    MINUS,
    NEAREST,
    NOTHING,
    OPPOSITE,
    PLUS,
    REAL_DIVIDED,
    REAL_IS_AT_MOST,
    REAL_IS_LESS,
    REAL_IS_OTHER,
    REAL_IS_SAME,
    REAL_MINUS,
    REAL_OPPOSITE,
    REAL_PLUS,
    REAL_REST,
    REAL_SIZE,
    REAL_TIMES,
    REST,
    SIZE,
    SPANS,
    SUM_HIGH,
    SUM_LOW,
    TIMES,
    TO_REAL,
    UP,
)

LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""Numbers of the 64-bit integers. A sum that may exceed them is computed unsigned: compilers assume that
signed sums do not overflow."""

BEYOND = 9223372036854775808.0
"""The least float that is above all 64-bit integers."""


@inline
def rest_of_reals(one, other):
    """The remainder of a division of floats, with the sign of the dividend."""
    return np.fmod(one, other)


@inline
def exceeds(one, other):
    """Whether a product does not fit 64 bits; neither factor is 0."""
    size = np.uint64(0) - np.uint64(one) if one < 0 else np.uint64(one)
    by = np.uint64(0) - np.uint64(other) if other < 0 else np.uint64(other)
    limit = np.uint64(MOST)
    if (one < 0) != (other < 0):
        limit = limit + np.uint64(1)
    return size > limit // by


@inline
def text_of(texts, label):
    """Where the text of a label begins, and where it ends."""
    low = 0
    high = texts.label.shape[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if texts.label[middle] <= label:
            low = middle
        else:
            high = middle
    return texts.place[low, 0], texts.place[low, 1]


@inline
def is_within(texts, whole, part, does):
    """Whether a text contains, begins or ends with another: 1 or 0.

    Bytes are compared: in UTF-8 no character is a part of another.
    """
    first, stop = text_of(texts, whole)
    begin, end = text_of(texts, part)
    size = end - begin
    last = stop - size
    if does == BEGINS:
        last = min(last, first)
    elif does == ENDS:
        first = max(first, last)
    for at in range(first, last + 1):
        k = 0
        while k < size and texts.byte[at + k] == texts.byte[begin + k]:
            k += 1
        if k == size:
            return 1
    return 0


@jit
def work_out(programs, program, bits, row, values, event):
    """Run a program: -1, or the instruction whose integer exceeds 64 bits.

    ==========  =========================  ===============================================================
    `programs`  Programs                   in; the value is left in stack[0]: 0 where it is null
    `program`   int64                      in: the number of the program
    `bits`      int64 [rows, slots]        in: the values of configurations
    `row`       int64                      in: the row of the configuration
    `values`    int64 [columns, events]    in: the values of events
    `event`     int64                      in: the number of the event
    ==========  =========================  ===============================================================
    """
    stack = programs.stack
    reals = programs.reals
    known = programs.known
    top = -1
    for at in range(programs.first[program], programs.first[program + 1]):
        does = programs.code[at, 0]
        argument = programs.code[at, 1]
        if does == LOAD:
            top += 1
            stack[top] = bits[row, argument] if argument >= 0 else values[-3 - argument, event]
            known[top] = 1
        elif does == CONSTANT:
            top += 1
            stack[top] = argument
            known[top] = 1
        elif does == NOTHING:
            top += 1
            stack[top] = 0
            known[top] = 0
        elif does == TO_REAL:
            reals[top] = float(stack[top])
        elif does in (OPPOSITE, SIZE):
            if stack[top] == LEAST:
                if known[top]:
                    return at
            elif does == OPPOSITE or stack[top] < 0:
                stack[top] = -stack[top]
        elif does == REAL_OPPOSITE:
            reals[top] = 0.0 - reals[top]
        elif does == REAL_SIZE:
            reals[top] = abs(reals[top])
        elif does in (DOWN, UP, NEAREST):
            real = reals[top]
            if real >= -BEYOND and real < BEYOND:
                whole = int(real)
                apart = real - float(whole)
                if does == DOWN:
                    whole -= 1 if apart < 0.0 else 0
                elif does == UP:
                    whole += 1 if apart > 0.0 else 0
                elif abs(apart) > 0.5 or (abs(apart) == 0.5 and whole & 1):  # ties go to even numbers
                    whole += 1 if apart > 0.0 else -1
                stack[top] = whole
            else:
                known[top] = 0
                stack[top] = 0
        elif does == SPANS:
            top -= 2
            apart = np.uint64(stack[top]) - np.uint64(stack[top + 1])
            spans = stack[top] < stack[top + 1] or apart <= np.uint64(stack[top + 2])
            stack[top] = 1 if spans else 0
        elif does == SUM_HIGH:
            top -= 2
            low = stack[top]
            value = stack[top + 2]
            carry = 0
            if value > 0 and low > MOST - value:
                carry = 1
            elif value < 0 and low < LEAST - value:
                carry = -1
            stack[top] = stack[top + 1] + carry
        elif does == COALESCED:
            top -= 1
            if not known[top]:
                stack[top] = stack[top + 1]
                known[top] = known[top + 1]
        else:
            top -= 1
            known[top] &= known[top + 1]
            one = stack[top]
            other = stack[top + 1]
            if does == SUM_LOW:
                stack[top] = np.int64(np.uint64(one) + np.uint64(other))
            elif does == FITS:
                if other != 0 and known[top]:
                    return at
            elif does == PLUS:
                beyond = one > MOST - other if other > 0 else one < LEAST - other
                if beyond and known[top]:
                    return at
                stack[top] = np.int64(np.uint64(one) + np.uint64(other))
            elif does == MINUS:
                beyond = one > MOST + other if other < 0 else one < LEAST + other
                if beyond and known[top]:
                    return at
                stack[top] = np.int64(np.uint64(one) - np.uint64(other))
            elif does == TIMES:
                if known[top] and abs(float(one) * float(other)) > 9.2e18 and exceeds(one, other):
                    return at
                stack[top] = np.int64(np.uint64(one) * np.uint64(other))
            elif does == REST:
                if other == 0:
                    known[top] = 0
                    stack[top] = 0
                elif other == -1:
                    stack[top] = 0
                else:
                    rest = one % other
                    if rest != 0 and (rest < 0) != (one < 0):
                        rest -= other
                    stack[top] = rest
            elif does == IS_LESS:
                stack[top] = 1 if one < other else 0
            elif does == IS_AT_MOST:
                stack[top] = 1 if one <= other else 0
            elif does == IS_SAME:
                stack[top] = 1 if one == other else 0
            elif does == IS_OTHER:
                stack[top] = 1 if one != other else 0
            elif does in (CONTAINS, BEGINS, ENDS):
                stack[top] = is_within(programs.texts, one, other, does) if known[top] else 0
            elif does == BESIDE_REAL:
                last = reals[top + 1]
                if last != last:
                    known[top] = 0
                    stack[top] = 0
                elif last >= BEYOND:
                    stack[top] = -1
                elif last < -BEYOND:
                    stack[top] = 1
                else:
                    whole = int(last)
                    rest_of = last - float(whole)
                    if one != whole:
                        stack[top] = -1 if one < whole else 1
                    elif rest_of != 0.0:
                        stack[top] = -1 if rest_of > 0.0 else 1
                    else:
                        stack[top] = 0
            else:
                first = reals[top]
                last = reals[top + 1]
                if does == REAL_PLUS:
                    reals[top] = first + last
                elif does == REAL_MINUS:
                    reals[top] = first - last
                elif does == REAL_TIMES:
                    reals[top] = first * last
                elif does == REAL_DIVIDED:
                    if last == 0.0:
                        known[top] = 0
                        stack[top] = 0
                    else:
                        reals[top] = first / last
                elif does == REAL_REST:
                    if last == 0.0:
                        known[top] = 0
                        stack[top] = 0
                    elif math.isinf(first):
                        reals[top] = math.nan
                    else:
                        reals[top] = rest_of_reals(first, last)
                elif does == REAL_IS_LESS:
                    stack[top] = 1 if first < last else 0
                elif does == REAL_IS_AT_MOST:
                    stack[top] = 1 if first <= last else 0
                elif does == REAL_IS_SAME:
                    stack[top] = 1 if first == last else 0
                elif does == REAL_IS_OTHER:
                    both = first == first and last == last
                    stack[top] = 1 if both and first != last else 0
    if not known[0]:
        stack[0] = 0
    return -1
