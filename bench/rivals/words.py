"""The questions for engines on the JVM: in Esper's EPL, as calls of Flink CEP, as queries of Siddhi."""

from __future__ import annotations

from itertools import pairwise

from bench.rivals.asked import CannotError
from bench.rivals.questions import DAY, GAP, REACH, Joined, Many, Nearest, Neighbours, Question, Sequence

FOR_EACH_START = "its patterns choose for each start, not for each end"


def epl(question: Question) -> str:
    """A question as statements of Esper, separated by tabs. Times are milliseconds of its clock."""
    if isinstance(question, Many):
        return "\t".join(map(epl, question.questions))
    if isinstance(question, Neighbours):
        return f"select 1 as one from {_beside_epl(question.frame)}"
    if isinstance(question, Joined):
        return _joined_epl(question)
    if isinstance(question, Nearest):
        if question.ends:
            raise CannotError(FOR_EACH_START)
        first, *rest = (f"s{k}=E(type = '{step}'" for k, step in enumerate(question.steps))
        later = " -> ".join(f"{step} and key = s0.key)" for step in rest)
        within = f"timer:within({question.within + 1} msec)"
        return f"select 1 as one from pattern [every {first}) -> ({later}) where {within}]"
    assert isinstance(question, Sequence)
    if question.between is not None:
        raise CannotError(
            "an iteration takes all events until the next end, not every choice of them and each end"
        )
    text = ""
    for k, step in enumerate(question.steps):
        kinds = ", ".join(f"'{kind}'" for kind in step.split("|"))
        meets = [f"type in ({kinds})"]
        meets += ["key = s0.key"] * (question.keyed and k > 0)
        meets += [f"price > s{low}.price" for low, high in question.rises if high == k]
        meets += [f"price > {question.above}"] if k == 0 and question.above is not None else []
        meets += [f"ts <= s{k - 1}.ts + {question.gap}"] if k and question.gap is not None else []
        text += " -> " * (k > 1) + f"every s{k}=E({' and '.join(meets)})" + " -> (" * (k == 0)
    unless = f" and not E(type = '{question.unless}')" if question.unless else ""
    # Times are whole numbers: events less than n + 1 milliseconds apart are at most n apart.
    return f"select 1 as one from pattern [{text}{unless}) where timer:within({question.within + 1} msec)]"


def _joined_epl(question: Joined) -> str:
    names = [f"s{k}" for k in range(len(question.relations))]
    kept = "#keepall" if question.within is None else f"#time({question.within + 1} msec)"
    tables = ", ".join(f"E(type = '{one}'){kept} as {name}" for one, name in zip(question.relations, names))
    alike = " and ".join(f"{a}.key = {b}.key" for a, b in pairwise(names))
    batches = f"batches {question.batches}\t" if question.batches > 1 else ""
    return f"{batches}select 1 as one from {tables} where {alike}"


def _beside_epl(frame: str) -> str:
    if frame in ("silent", "sessions"):
        reach = (REACH if frame == "silent" else GAP) + 1
        return f"pattern [every e=E -> (timer:interval({reach} msec) and not E(key = e.key))]"
    if frame == "rises":
        steps = "ABCD"
        meets = [f"{b} as {b}.price > {a}.price" for a, b in pairwise(steps)]
    elif frame == "strict":
        steps = "ABC"
        meets = [f"{step} as {step}.type = '{step}'" for step in steps]
    else:
        steps = "UVWXYZ"  # one that is called E, as the stream is, would be any event
        kinds = ["Arrival", "Departure"] * 3
        meets = [f"{a} as {a}.type = '{kind}' and {a}.price >= 30" for a, kind in zip(steps, kinds)]
        meets[-1] += f" and Z.ts - U.ts <= {DAY}"
    return (
        f"E match_recognize (partition by key measures {steps[0]}.ts as ts all matches "
        f"after match skip to next row pattern ({' '.join(steps)}) define {', '.join(meets)})"
    )


def calls(question: Question) -> str:
    """A question as the calls that make a pattern of Flink, in the form that its driver reads."""
    if isinstance(question, Many):
        raise CannotError("a job of Flink CEP finds one pattern")
    if isinstance(question, Neighbours):
        return {
            "strict": "begin(A) next(B) next(C) keyed",
            "rises": "begin(*) next(*,rises:0) next(*,rises:1) next(*,rises:2) keyed",
            "late": " next".join(
                ("begin", *(f"({kind},least:30)" for kind in ["Arrival", "Departure"] * 3))
            ).replace("begin next", "begin", 1)
            + f" within:{DAY} keyed",
            "silent": f"begin(*) not(*) within:{REACH} keyed",
            "sessions": f"begin(*) not(*) within:{GAP} keyed",
        }[question.frame]
    if isinstance(question, Joined):
        raise CannotError(
            "a pattern is a sequence; a join of three in a window would be the six orders of them"
        )
    if isinstance(question, Nearest):
        if question.ends:
            raise CannotError(FOR_EACH_START)
        first, *rest = question.steps
        return " ".join(
            [f"begin({first})", *(f"then({step})" for step in rest), f"within:{question.within} keyed"]
        )
    assert isinstance(question, Sequence)
    if question.longest:
        raise CannotError(
            "its iterations give every choice of events, or every run that grows, not the longest"
        )
    words = []
    for k, step in enumerate(question.steps):
        if k == len(question.steps) - 1 and question.unless:
            words.append(f"not({question.unless})")
        rises = "".join(f",rises:{low}" for low, high in question.rises if high == k)
        above = f",above:{question.above}" if k == 0 and question.above is not None else ""
        words.append(f"{'any' if k else 'begin'}({step}{rises}{above})")
        if k == 0 and question.between is not None:
            words.append(f"sets({question.between})")
    words.append(f"within:{question.within}" if question.gap is None else f"gap:{question.gap}")
    return " ".join([*words, "keyed" if question.keyed else "whole"])


def siddhi(question: Question) -> str:
    """A question as queries of Siddhi that insert a row for each match into the stream Out."""
    if isinstance(question, Many):
        return "\t".join(map(siddhi, question.questions))
    if isinstance(question, Joined):
        raise CannotError("a join has two streams")
    if isinstance(question, Neighbours):
        return _by_key(_beside_siddhi(question.frame))
    if isinstance(question, Nearest):
        if question.ends:
            raise CannotError(FOR_EACH_START)
        steps = " -> ".join(f"s{k}=E[type == '{step}']" for k, step in enumerate(question.steps))
        return _by_key(f"every {steps} within {question.within} milliseconds")
    if question.between is not None:
        raise CannotError(
            "an iteration takes all events until the next end, not every choice of them and each end"
        )
    if question.unless is not None:
        raise CannotError("what must not occur is forgotten where the next end is looked for")
    return _by_key(_sequence_siddhi(question)) if question.keyed else _inserted(_sequence_siddhi(question))


def _sequence_siddhi(question: Sequence) -> str:
    steps = []
    for k, step in enumerate(question.steps):
        kinds = " or ".join(f"type == '{kind}'" for kind in step.split("|"))
        meets = [f"({kinds})"]
        meets += [f"price > s{low}.price" for low, high in question.rises if high == k]
        meets += [f"price > {question.above}"] if k == 0 and question.above is not None else []
        # Its own `within` drops what has begun, but is not exact if an event may serve several steps.
        meets += [f"ts <= s0.ts + {question.within}L"] if k else []
        meets += [f"ts <= s{k - 1}.ts + {question.gap}L"] if k and question.gap is not None else []
        steps.append(f"every s{k}=E[{' and '.join(meets)}]")
    return f"{' -> '.join(steps)} within {question.within} milliseconds"


def _beside_siddhi(frame: str) -> str:
    if frame in ("silent", "sessions"):
        reach = REACH if frame == "silent" else GAP
        return f"every e=E -> not E for {reach} milliseconds"
    if frame == "rises":
        return "every a=E, b=E[price > a.price], c=E[price > b.price], d=E[price > c.price]"
    if frame == "strict":
        return "every a=E[type == 'A'], b=E[type == 'B'], c=E[type == 'C']"
    kinds = ["Arrival", "Departure"] * 3
    steps = [f"s{k}=E[type == '{kind}' and price >= 30" for k, kind in enumerate(kinds)]
    steps[-1] += f" and ts - s0.ts <= {DAY}L"
    return f"every {', '.join(f'{step}]' for step in steps)}"


def _inserted(pattern: str) -> str:
    return f"from {pattern} select 1 as one insert into Out;"


def _by_key(pattern: str) -> str:
    return f"partition with (key of E) begin {_inserted(pattern)} end;"
