"""Constituency trees as data: brackets, heads, encodings as dependency trees, and scores. Standard library only."""
