"""Conjunctive queries with comparisons between atoms: acyclic, free-connex, and their join trees.

    gcq          the query: atoms, predicates, output variables          (section 2 of the paper)
    triplet      what its reduction rewrites                             (Definitions 9 to 12)
    reduction    ISO, CSE and FLT; the two stages of Theorem 6.1
    tree         generalized join trees, guards, connex sets             (Definitions 1 to 5)
    construct    the tree and its connex set, by Algorithm 3
    shape        sibling-closed and binary                               (Propositions 1 to 3)
    cost         which of several trees a view is kept by
    bags         atoms of a cyclic query put together until it is acyclic

The paper is "Conjunctive Queries with Theta Joins Under Updates" (GDyn, IEDyn).
"""
