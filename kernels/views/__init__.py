"""Views under updates: sorted rows with multiplicities, found, summed and merged."""
