"""The tables of docs/development/results.md: declared in TOML files, trained, tested, recorded and rendered."""
