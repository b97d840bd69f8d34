"""Makes deterministic automata small: fewest states, fewest symbols, and the neutral symbol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cer_gpu.automata.cea import DeterministicCEA, Step
from cer_gpu.automata.determinise import assemble
from cer_gpu.automata.explore import coreachable, explore


def minimise(det: DeterministicCEA) -> DeterministicCEA:
    """The least automaton with the same runs, state 0 kept apart.

    States from which no final state is reached are dropped, and states from which the same sequences of
    (symbol, label) are accepted are merged. The numbering is breadth-first, so two automata over the same
    symbols and labels with the same complex events become equal values.
    """
    useful = coreachable(det.n_states, ((step.source, step.target) for step in det.transitions), det.final)
    steps = [step for step in det.transitions if step.target in useful]
    block_of = _coarsest(det.n_states, steps, [{0}, det.final, useful - det.final - {0}])

    leaving: dict[int, dict[tuple[int, int], int]] = {}
    for step in steps:
        leaving.setdefault(block_of[step.source], {})[step.symbol, step.label] = block_of[step.target]
    accepting = {block_of[state] for state in det.final}
    found = explore(
        block_of[0],
        lambda block: sorted(leaving.get(block, {}).items()),
        accepting.__contains__,
        None,
        "minimisation",
    )
    return assemble(found, det.n_symbols, det.labels)


def registers(det: DeterministicCEA) -> tuple[int, ...]:
    """The register of each state, when acceptance is read off the transitions.

    A run that ends is known by the transition it takes (its target is final), so states that differ only in
    being final are one register: in `A+`, the state just after an A and the one that waits for the next. In a
    minimal automaton no two registers can be merged further.

    Returns
    -------
    tuple of int
        State 0 has register 0 to itself; a state without transitions has -1; the others are numbered from 1
        in the order of their first state.
    """
    leaving: list[list[tuple[int, int, int]]] = [[] for _ in range(det.n_states)]
    for source, symbol, label, target in det.transitions:
        leaving[source].append((symbol, label, target))
    numbers: dict[tuple[tuple[int, int, int], ...], int] = {}
    return (
        0,
        *(numbers.setdefault(tuple(steps), len(numbers) + 1) if steps else -1 for steps in leaving[1:]),
    )


class MergedSymbols(NamedTuple):
    """The result of `merge_symbols`.

    Attributes
    ----------
    automaton : DeterministicCEA
        Over the new symbols; those of the neutral events are symbol 0.
    symbol : tuple of int
        The new symbol of each old one.
    """

    automaton: DeterministicCEA
    symbol: tuple[int, ...]


def merge_symbols(det: DeterministicCEA) -> MergedSymbols:
    """Merge the symbols that no state tells apart; number the neutral ones 0, the others from 1.

    A symbol is neutral iff its events can be dropped from the stream, all other positions kept, and the
    complex events stay what they are: state 0 has no transition on it, and every other state that has
    transitions at all has just one on it, which marks nothing, ends nothing and leads to the state's own
    register (see `registers`). In `A ; B ; C` an event of another type is; in `A : B` none is. Symbol 0
    exists also where no symbol is neutral.
    """
    by_symbol: list[list[tuple[int, int, int]]] = [[] for _ in range(det.n_symbols)]
    for source, symbol, label, target in det.transitions:
        by_symbol[symbol].append((source, label, target))
    register = registers(det)
    live = {state for state in range(1, det.n_states) if register[state] >= 0}

    def neutral(steps: Sequence[tuple[int, int, int]]) -> bool:
        return len(steps) == len(live) and all(
            source in live and label == 0 and target not in det.final and register[source] == register[target]
            for source, label, target in steps
        )

    numbers: dict[tuple[tuple[int, int, int], ...], int] = {}
    symbol_map: list[int] = []
    merged: dict[int, Sequence[tuple[int, int, int]]] = {}
    for steps in by_symbol:
        number = 0 if neutral(steps) else numbers.setdefault(tuple(steps), len(numbers) + 1)
        merged.setdefault(number, steps)
        symbol_map.append(number)
    automaton = DeterministicCEA(
        det.n_states,
        len(numbers) + 1,
        det.labels,
        tuple(
            Step(source, symbol, label, target)
            for symbol in sorted(merged)
            for source, label, target in merged[symbol]
        ),
        det.final,
    )
    return MergedSymbols(automaton, tuple(symbol_map))


def _coarsest(n_states: int, steps: Iterable[Step], partition: Iterable[Iterable[int]]) -> list[int]:
    """The block of each state in the coarsest refinement of `partition` that the steps respect.

    Hopcroft's algorithm, O(m log n) for m steps; a state in no part keeps -1.
    """
    entering: list[list[tuple[tuple[int, int], int]]] = [[] for _ in range(n_states)]
    for source, symbol, label, target in steps:
        entering[target].append(((symbol, label), source))
    blocks = [part for part in map(set, partition) if part]
    block_of = [-1] * n_states
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number

    splitters = set(range(len(blocks)))
    while splitters:
        splitter = splitters.pop()
        sources: dict[tuple[int, int], list[int]] = {}
        for state in blocks[splitter]:
            for letter, source in entering[state]:
                sources.setdefault(letter, []).append(source)
        for members in sources.values():
            touched: dict[int, list[int]] = {}
            for state in members:
                touched.setdefault(block_of[state], []).append(state)
            for number, part in touched.items():
                if len(part) == len(blocks[number]):
                    continue
                new = len(blocks)
                blocks.append(set(part))
                blocks[number] -= blocks[new]
                for state in part:
                    block_of[state] = new
                smaller = new if len(part) <= len(blocks[number]) else number
                splitters.add(new if number in splitters else smaller)
    return block_of
