"""Words that several parts of `explain` share."""


def counted(number: int, what: str) -> str:
    """A number of things: `1 state`, `2 states`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
