"""The step after decoding that makes trees obey the rules of Universal Dependencies (:mod:`treebank.guidelines`).

Most trees obey them already. Where one does not, the step changes as little as possible:

- A relation that is not allowed is replaced by the next best one that is, by the scores of the parser's own decision.
  Of several subjects or objects of a word, the one that the parser preferred most clearly stays.
- A modifier of a word that must be a leaf moves up to the head of that word, unless another relation of one of the two
  costs less.

The tree stays a tree with the same root, and arcs that do not cross do not cross afterwards.
"""
