"""SUPPRESS on the CPU: the bodies of the contract, compiled."""

from ..jit import jit
from .contract import suppress_body, suppress_consuming_body

suppress = jit(suppress_body)
suppress_consuming = jit(suppress_consuming_body)
