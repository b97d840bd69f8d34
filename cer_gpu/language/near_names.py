"""The known name that an unknown one was probably meant to be: `near_name`."""

from __future__ import annotations

from collections.abc import Sequence

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "symbol ticker instrument sym security stock asset",
        "price px last close trade_price",
        "volume vol qty quantity size shares units",
        "amount value total sum",
        "ts time timestamp datetime date event_time created created_at occurred_at at when moment",
        "user user_id userid uid username user_name login account account_id",
        "customer customer_id client client_id",
        "host hostname host_name machine server node",
        "device device_id sensor sensor_id",
        "ip ip_address ipaddr addr address",
        "src source src_ip source_ip from_ip",
        "dst dest destination dst_ip dest_ip destination_ip target",
        "type event event_type eventtype kind action activity",
        "id key identifier",
        "session session_id sessionid sid",
        "order order_id orderid",
        "status state",
        "message msg text",
        "latency duration elapsed took response_time",
        "temperature temp",
        "country country_code nation",
    )
)
"""Names of columns that mean the same."""

ALIKE, PERHAPS = 0.8, 0.6
"""How alike two names are, of 1, for one to be surely meant by the other, and perhaps."""


def near_name(name: str, known: Sequence[str], columns: bool = False) -> str | None:
    """The known name that was probably meant; None if none is near.

    Parameters
    ----------
    name : str
    known : sequence of str
    columns : bool, default False
        Whether they are names of columns, of which some mean the same.
    """
    import difflib  # a query without a slip need not load it

    exact = next((other for other in known if other.casefold() == name.casefold()), None)
    alike = exact or next(iter(difflib.get_close_matches(name, known, 1, ALIKE)), None)
    if alike is None and columns:
        alike = _synonym(name, known)
    return alike or next(iter(difflib.get_close_matches(name, known, 1, PERHAPS)), None)


def _synonym(name: str, known: Sequence[str]) -> str | None:
    """A known name that means the same."""
    for group in SYNONYMS:
        if name.casefold() in group:
            found = next((other for other in known if other.casefold() in group), None)
            if found is not None:
                return found
    return None
