"""Parsed corpora as tables: one schema in Arrow and Parquet, one row for each sentence or each word."""
