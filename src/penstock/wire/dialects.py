"""All protocols. To add one, add a folder next to this file and list it here."""

from typing import Final

from penstock.wire.mqks.session import Mqks
from penstock.wire.mqmq.session import Mqmq
from penstock.wire.rq.session import Rq
from penstock.wire.session import Dialect
from penstock.wire.sevx.session import Sevx
from penstock.wire.smqs.session import Smqs

DIALECTS: Final[tuple[type[Dialect], ...]] = (Mqks, Smqs, Sevx, Mqmq, Rq)
