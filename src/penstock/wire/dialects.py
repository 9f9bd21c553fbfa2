"""The protocols there are. A new one is a folder beside this file and a line in it."""

from typing import Final

from penstock.wire.mqks.session import Mqks
from penstock.wire.mqmq.session import Mqmq
from penstock.wire.session import Dialect

DIALECTS: Final[tuple[type[Dialect], ...]] = (Mqks, Mqmq)
