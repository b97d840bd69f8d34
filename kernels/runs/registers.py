"""What an event does to the registers of hits, for all kernels of the CPU that follow runs."""

from ..jit import inline


@inline
def step(register, into, left, right, begin, stop):
    """Run the operations `begin` .. `stop - 1` of a program, each of which keeps the later of two starts.

    =================  ====================  ================================================================
    `register`         int64 [n_registers]   in/out: latest start for each state; -1 where there is none
    `into` `left`      [operations]          in: of a `Program` from `hits_program`
    `right`
    `begin` `stop`     int64                 in: those of an event are first[symbol] .. first[symbol + 1] - 1
    =================  ====================  ================================================================
    """
    for k in range(begin, stop):
        one = register[left[k]]
        other = register[right[k]]
        register[into[k]] = one if one > other else other


@inline
def _place(register, behind, moved):
    # Where a register lies: those of the chain, from `behind` on, have moved.
    return register + moved if register >= behind else register


@inline
def chained_step(register, program, begin, stop, moved):
    """As `step`, of a `ChainedProgram` whose chain lies `moved` registers behind where it lay first."""
    behind = program.n_registers
    for k in range(begin, stop):
        one = register[_place(program.left[k], behind, moved)]
        other = register[_place(program.right[k], behind, moved)]
        register[_place(program.into[k], behind, moved)] = one if one > other else other
