"""Treebanks: reading and writing CoNLL-U, trees, projectivity and scores. Uses only the standard library."""
