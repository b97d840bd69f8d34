"""Views: conjunctive queries with comparisons, kept up to date under inserts and deletes.

codes        values as whole numbers in their order, and back
body         the rule as atoms and comparisons, equal variables made one
relations    the rows of the relations; a delete of what is not there
levels       a multiset of rows as sorted runs that are merged as they grow
terms        one side of a comparison, over columns of codes
layout       what the nodes of a join tree hold, in which order, and how two of them join
joining      the rows of two nodes that join: sums of multiplicities, and pairs
reducts      a batch climbs the tree                                   (Algorithm 2, Definition 6)
trees        a join tree with what its nodes hold
kept         a view: relations and trees, updated together
listing      the answers, from the root down                           (Algorithm 1)
grouped      COUNT, SUM, MIN, MAX, AVG over the answers
snapshots    a view as bytes, and back
drawn        a view's trees as text
"""
