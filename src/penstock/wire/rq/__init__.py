"""RQ - Remote Queue: requests and replies over RISP, a stream of one-byte commands."""
