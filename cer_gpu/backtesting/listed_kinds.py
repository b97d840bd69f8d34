"""Which columns of a backtest need its matches listed, starts or durations; tasks on Spark import it, too."""

from __future__ import annotations

from typing import NamedTuple


class ListedKinds(NamedTuple):
    """What matches are listed for."""

    starts: bool
    durations: bool

    @property
    def told(self) -> str:
        """The columns, in words."""
        return " and ".join(name for name, wanted in self._asdict().items() if wanted)


NOTHING = ListedKinds(starts=False, durations=False)
