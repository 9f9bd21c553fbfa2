"""How a part of the broker logs, without knowing where the log goes."""

from collections.abc import Callable

Report = Callable[[str, str, dict[str, object]], None]  # level, event name, details
