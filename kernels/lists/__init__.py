"""List columns: the events that each variable marks, as Arrow holds them."""
