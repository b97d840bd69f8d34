"""The definitions of the papers, slow and obvious: what tests compare with. No engine imports them."""
