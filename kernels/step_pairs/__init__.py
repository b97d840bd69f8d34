"""Chains that compare two of their steps, with other steps between: `a ; B ; c` with `a.x < c.x`."""
