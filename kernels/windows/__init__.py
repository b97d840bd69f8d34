"""Windows: the lowest event at which a complex event may start."""
