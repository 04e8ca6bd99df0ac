"""easyfirst side by side with other parsers: same data, same machine, same run (``python -m bench.peers``)."""
