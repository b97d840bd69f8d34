"""Numbers as pairs of floats whose sum they are, twice as exact as floats.

From T. J. Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971),
and D. E. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B: the error of a sum of floats is a float.
"""

from ..jit import inline


@inline
def plus(one, one_rest, other, other_rest):
    """The sum of two pairs; exact for whole numbers below 2^100."""
    high = one + other
    shift = high - one
    low = (one - (high - shift)) + (other - shift) + (one_rest + other_rest)
    total = high + low
    return total, low - (total - high)


@inline
def minus(one, one_rest, other, other_rest):
    """The difference of two pairs as a float, which is 0 only if they are equal."""
    high = one - other
    shift = high - one
    low = (one - (high - shift)) - (other + shift) + (one_rest - other_rest)
    return high + low


@inline
def is_above(difference, strict):
    """Whether a number exceeds a bound, given the difference of the two."""
    return difference > 0 or (difference == 0 and not strict)
