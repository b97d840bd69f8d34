"""The contract of list columns: the events that each kept variable marks, list after list, by definition."""


def lists_reference(first, event, label, has):
    """The lists of positions of each variable, one list for each complex event, by definition.

    Parameters
    ----------
    first, event, label : ndarray
        Of a block of complex events.
    has : ndarray, shape (labels, variables), uint8
    """
    marks = [range(first[k], first[k + 1]) for k in range(len(first) - 1)]
    return [
        [[int(event[m]) for m in mine if has[label[m], v]] for mine in marks] for v in range(has.shape[1])
    ]
