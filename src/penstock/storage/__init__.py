"""What keeps the log: files, segments, recovery, retention, cursors, backup and repair."""
