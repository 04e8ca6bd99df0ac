"""easyfirst side by side with other parsers: the same data, the same machine, the same run (``python -m bench.peers``)."""
