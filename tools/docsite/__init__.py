"""The documentation site: what mkdocs.yml needs beside the pages of ``docs/``, and the programs that make pages."""
