"""Ready-made jobs. Each has a `transform` from DataFrames to a DataFrame, which tests can call, and a thin `run`."""
