"""File-style globs with `*`, `?` and `[...]`, by which policies and permissions select names."""

import fnmatch
import re


def compiled_glob(glob: bytes) -> re.Pattern[bytes]:
    """A pattern whose `match` matches a whole name; each byte counts as one character, so any name can be matched."""
    return re.compile(fnmatch.translate(glob.decode("latin-1")).encode("latin-1"))
