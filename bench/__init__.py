"""Benchmarks and experiments, run from the root of the repository: ``python -m bench.engine --help``."""
