"""The persistent structure: its nodes, and the enumeration of all complex events of many hits."""
