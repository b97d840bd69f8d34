"""Parts of times: the hour, the day, the year of every time of a column."""
