"""Treebanks: reading and writing CoNLL-U, trees, projectivity and scores. Standard library only."""
