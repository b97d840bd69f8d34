"""How the virtual device behaves: which orders, how late, how much memory."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

ORDERS = ("ascending", "descending", "random")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of all virtual devices of a process.

    Attributes
    ----------
    devices : int
        How many there are, at most 16.
    memory : int
        Bytes of memory of each.
    lazy : bool
        Whether streams do their work only when something waits for it: a missing wait then shows.
    order : str
        The order in which the threads of a block run, and the blocks of a grid: "ascending", "descending", or
        "random", which is drawn anew behind each barrier.
    seed : int
        Of the random order.
    races : bool
        Whether it is reported that two threads access one place without a barrier between them, and at least
        one of them writes.
    lose : bool
        Whether an illegal access ends the use of the device, as on a GPU: all calls then return its error.
        If not, the kernel goes on, and the access goes to a place of its own.
    loss : int
        Which launch or copy ends the use of the device, counted from 1 since the last reset or change of the
        settings; 0 for none. It does nothing, and all calls that need a context return `error` from then on.
    error : int
        The error of the driver with which the device is lost: by default CUDA_ERROR_ILLEGAL_ADDRESS.
    """

    devices: int = 1
    memory: int = 1 << 32
    lazy: bool = False
    order: str = "ascending"
    seed: int = 0
    races: bool = True
    lose: bool = False
    loss: int = 0
    error: int = 700

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ValueError(f"order={self.order!r} is none of {', '.join(ORDERS)}")
        if not 0 <= self.devices <= 16:
            raise ValueError(f"devices={self.devices}: there are 0 to 16")

    def numbers(self) -> list[int]:
        """The fields as the driver takes them."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return [ORDERS.index(value) if name == "order" else int(value) for name, value in values.items()]

    @classmethod
    def parse(cls, text: str) -> Settings:
        """The settings of a text: `lazy,order=random,seed=7,devices=2`.

        Raises
        ------
        ValueError
            For a name or a value that is not known.
        """
        found = cls()
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            if name not in {one.name for one in fields(cls)}:
                raise ValueError(f"{name!r} is no setting of the virtual device")
            now = getattr(found, name)
            given = value if isinstance(now, str) else int(value or 1)
            found = replace(found, **{name: bool(given) if isinstance(now, bool) else given})
        return found
