"""Streams: events that come push by push, the window over each lane, and what of them is still open."""
