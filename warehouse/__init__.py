"""Where things are kept: schemas, the lake of Parquet, DuckDB over it."""
