"""How the process deals with its memory: buffers of megabytes come and go each turn, and should not be new each time.

By default the C library gives large pieces back to the system at once and gets them anew, cleared, page by page. That
was a third of the time the system spent on messages that go to disk.
"""

import contextlib
import ctypes
from typing import Final

# Of mallopt(3).
M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3
M_ARENA_MAX: Final = -8

KEPT_BYTES: Final = 128 << 20  # free memory at the end of the heap that is not given back
OWN_MAPPING_BYTES: Final = 32 << 20  # from here on a piece is got from the system by itself; it is the most there is


def keep_memory() -> None:
    """Where the C library is another one, nothing changes."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(M_ARENA_MAX, 1)
