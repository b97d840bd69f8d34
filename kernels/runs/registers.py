"""What an event does to the registers of hits, a chain of which moves on together."""

from ..jit import inline


@inline
def _place(register, behind, moved):
    # Where a register lies: those of the chain, from `behind` on, have moved.
    return register + moved if register >= behind else register


@inline
def chained_step(register, program, begin, stop, moved):
    """Run the operations `begin` .. `stop - 1` of a program, each of which keeps the later of two starts.

    ================  ====================  ================================================================
    `register`        int64 [n_registers]   in/out: latest start for each state; -1 where there is none
    `program`         ChainedProgram        in
    `begin` `stop`    int64                 in
    `moved`           int64                 in: how far the chain lies behind where it lay first
    ================  ====================  ================================================================
    """
    behind = program.n_registers
    for k in range(begin, stop):
        one = register[_place(program.left[k], behind, moved)]
        other = register[_place(program.right[k], behind, moved)]
        register[_place(program.into[k], behind, moved)] = one if one > other else other
