"""Names with `*`, `?` and `[...]` in them, as for files: how policies and rights say which they are for."""

import fnmatch
import re


def compiled_glob(glob: bytes) -> re.Pattern[bytes]:
    """A pattern whose `match` takes a whole name; a character stands for each byte, so that any name can be matched."""
    return re.compile(fnmatch.translate(glob.decode("latin-1")).encode("latin-1"))
