"""Ready-made jobs. Each is a `transform` from DataFrames to a DataFrame, which a test can call, and a thin `run`."""
