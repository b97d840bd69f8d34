"""The contract of list columns: the list of each complex event, by definition."""


def list_reference(first, event, label, has):
    """The list of each complex event, by definition."""
    marks = [range(first[k], first[k + 1]) for k in range(len(first) - 1)]
    return [[int(event[m]) for m in mine if has[label[m]]] for mine in marks]
