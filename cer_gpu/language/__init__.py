"""The language: from the text of a query to its syntax tree, and the check of the tree."""
