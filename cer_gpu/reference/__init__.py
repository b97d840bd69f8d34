"""The definitions of the papers, slow and obvious. Tests compare with them; no engine imports them."""
