"""Compiles kernels several at a time, in other processes: `compiled`."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Lock, Thread, Timer
from typing import Any, NamedTuple, Protocol

from cer_gpu import progress
from cer_gpu.compiling.kinds import Kind
from cer_gpu.compiling.loader import words
from cer_gpu.cores import usable_cores

STEP_S = 0.1
"""Seconds between two checks of whether to continue."""

IDLE_S = 20.0
"""Seconds for which an idle helper is kept, in case more is to be compiled."""


class KernelSource(Protocol):
    """What a helper is told of a kernel."""

    @property
    def name(self) -> str:
        """The module that has it, and the name of its body."""
        ...

    def kept_as(self, kinds: tuple[Kind, ...]) -> str:
        """The name under which its machine code for some kinds is kept."""
        ...

    def has(self, kinds: tuple[Kind, ...]) -> bool:
        """Whether it need not be compiled for some kinds."""
        ...

    def keep(self, kinds: tuple[Kind, ...], about: dict[str, Any], code: bytes) -> None:
        """Take machine code that was made elsewhere."""
        ...


class CompileTask(NamedTuple):
    """A kernel that is to be compiled for some kinds of arguments."""

    kernel: KernelSource
    kinds: tuple[Kind, ...]

    @property
    def kept(self) -> str:
        """The name under which its machine code is kept."""
        return self.kernel.kept_as(self.kinds)


class TaskResult(NamedTuple):
    """A task and its result; `code` is None where no helper could compile it."""

    task: CompileTask
    about: dict[str, Any]
    code: bytes | None


def compiled(tasks: Sequence[CompileTask]) -> Iterator[TaskResult]:
    """Compile kernels in other processes, as many as there are cores; yields each kernel once it is done.

    Raises
    ------
    HaltedError
        When the run of this thread is over. Then, as on any other exception, no process goes on compiling.
    """
    helpers = _rest.take(min(usable_cores(), len(tasks)))
    todo, done = deque(tasks), SimpleQueue[TaskResult]()
    threads = [Thread(target=helper.work, args=(todo, done), daemon=True) for helper in helpers]
    for thread in threads:
        thread.start()
    whole = False
    try:
        for number in range(len(tasks)):
            yield _next(done, number, len(tasks))
        whole = True
    finally:
        for helper, thread in zip(helpers, threads, strict=True):
            if not whole:
                helper.end()
            thread.join()
        _rest.put([helper for helper in helpers if helper.alive])


def _next(done: SimpleQueue[TaskResult], number: int, total: int) -> TaskResult:
    while True:
        words.check()
        progress.show("compiling kernels", number, total)
        try:
            return done.get(timeout=STEP_S)
        except Empty:
            continue


class _Helper:
    """A process that runs `cer_gpu.compiling.helper`."""

    def __init__(self) -> None:
        script = f"import sys; sys.path[:] = {sys.path!r}; from cer_gpu.compiling.helper import main; main()"
        self._process: subprocess.Popen[str] | None = None
        if sys.executable and not getattr(sys, "frozen", False):
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", script],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,  # Ctrl-C is for the process that is asked; it ends this one
                )
            except OSError:
                return

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def work(self, todo: deque[CompileTask], done: SimpleQueue[TaskResult]) -> None:
        """Let the process compile tasks until there are no more."""
        while True:
            try:
                task = todo.popleft()
            except IndexError:
                return
            done.put(self._answer(task))

    def _answer(self, task: CompileTask) -> TaskResult:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return TaskResult(task, {}, None)
        asked = {"kernel": task.kernel.name, "kinds": task.kinds, "kept": task.kept}
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            found = json.loads(process.stdout.readline() or "{}")
        except (OSError, ValueError):  # the process has ended, or could not start
            return TaskResult(task, {}, None)
        code = found.get("code")
        return TaskResult(task, found.get("about", {}), None if code is None else b64decode(code))

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class _Rest:
    """Idle helpers, kept for a while."""

    def __init__(self) -> None:
        self._helpers: list[_Helper] = []
        self._lock = Lock()
        self._timer: Timer | None = None
        atexit.register(self.clear)

    def take(self, number: int) -> list[_Helper]:
        """Take so many helpers; new ones where too few are kept."""
        with self._lock:
            taken, self._helpers = self._helpers[:number], self._helpers[number:]
        return taken + [_Helper() for _ in range(number - len(taken))]

    def put(self, helpers: list[_Helper]) -> None:
        """Keep helpers for a while."""
        with self._lock:
            self._helpers += helpers
            if self._timer is not None:
                self._timer.cancel()
            self._timer = Timer(IDLE_S, self.clear)
            self._timer.daemon = True
            self._timer.start()

    def clear(self) -> None:
        """End the helpers that are kept."""
        with self._lock:
            helpers, self._helpers = self._helpers, []
        for helper in helpers:
            helper.end()


_rest = _Rest()
