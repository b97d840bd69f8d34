"""The matrices that count the ways through the steps of a chain: see `contract.StepPairRoom`."""

from ..jit import inline


@inline
def forward(product, mask, first):
    """Multiply a product by the matrix of an event: step `first` + k leads from k to k + 1."""
    for k in range(product.shape[0] - 2, -1, -1):
        if mask >> (first + k) & 1:
            for row in range(product.shape[0]):
                product[row, k + 1] += product[row, k]


@inline
def inverse(product, mask, first):
    """Multiply the inverse of the matrix of an event by the inverse of a product."""
    for k in range(product.shape[0] - 2, -1, -1):
        if mask >> (first + k) & 1:
            for column in range(product.shape[0]):
                product[k, column] -= product[k + 1, column]


@inline
def reset(matrix):
    """Make a matrix the identity."""
    for row in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            matrix[row, column] = 1 if row == column else 0
