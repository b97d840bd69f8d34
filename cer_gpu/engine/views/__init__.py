"""Views: conjunctive queries with comparisons, kept up to date under inserts and deletes.

codes        values as whole numbers in their order, and back
body         the rule as atoms and comparisons, equal variables merged
relations    the rows of the relations; the error for deleting a row that is not there
levels       a multiset of rows as sorted runs that are merged as they grow
terms        one side of a comparison, over columns of codes
layout       the columns of the nodes of a join tree, their order, and how two nodes join
joining      the rows of two nodes that join: sums of multiplicities, and pairs
reducts      how a batch changes the nodes of the tree, from the leaves up   (Algorithm 2, Definition 6)
trees        a join tree with the rows of its nodes
kept         a view: relations and trees, updated together
listing      the answers, from the root down                                 (Algorithm 1)
grouped      COUNT, SUM, MIN, MAX, AVG over the answers
snapshots    a view as bytes, and back
drawn        a view's trees as text
"""
