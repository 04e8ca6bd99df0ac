"""Treebanks: reading and writing CoNLL-U, trees, projectivity and attachment scores. Standard library only."""

from easyfirst.treebank.conllu import ConlluReader as ConlluReader
from easyfirst.treebank.conllu import read_conllu as read_conllu
from easyfirst.treebank.files import open_file as open_file
from easyfirst.treebank.projective import is_projective as is_projective
from easyfirst.treebank.projective import non_projective_arcs as non_projective_arcs
from easyfirst.treebank.scores import Scorer as Scorer
from easyfirst.treebank.scores import Scores as Scores
from easyfirst.treebank.scores import score as score
from easyfirst.treebank.sentence import Sentence as Sentence
from easyfirst.treebank.sentence import Word as Word
from easyfirst.treebank.tokens import read_tokens as read_tokens
from easyfirst.treebank.tree import Tree as Tree
from easyfirst.treebank.tree import check_tree as check_tree
