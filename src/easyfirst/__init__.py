"""Easy-first dependency parsing with hierarchical tree LSTMs (Kiperwasser & Goldberg, TACL 2016)."""

__version__ = "0.1.0"
