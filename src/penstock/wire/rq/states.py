"""The states of a node. Its connection, its liveness, each consumer and each open request has a state of its own.

    connection    OPENING ──not HTTP──► OPEN ──CLOSING received, or refused──► LEAVING ──CLOSING sent──► STOPPING
                                          └────────────────CLOSING sent─────────────────────────────────►┘
    liveness      ALIVE ──silence: PING sent──► PINGED ──silence──► IDLE
                    └◄──────────any byte──────────┴───────────────────┘
    consumer      STARTING ──► PARKED ──► ACTIVE ──CANCEL_QUEUE──► RETIRING ──all answered──► ended
                     └───────────────────►┘└◄────────CONSUME──────────┘
    request       WAITING ──DELIVERED──► TAKEN ──REPLY──► OVER          UNDELIVERED ends it in any state
                     └───────────────────┴──requester gone──► SILENT ──answered, or timeout──► OVER

A node gets deliveries while it is OPEN and not IDLE, its socket takes more, and there are free IDs.
"""

from typing import Final

# Of a connection; only forward. `ACTIONS` in `session` lists what a node may send in each of them.
OPENING: Final = 0  # its first bytes may still be an HTTP request
OPEN: Final = 1
LEAVING: Final = 2  # nothing new in either direction; what is open may be answered, then the connection is closed
STOPPING: Final = 3  # the same, and the node was told

# Of a node's liveness.
ALIVE: Final = 0
PINGED: Final = 1
IDLE: Final = 2  # gets no new requests

# Of a consumer.
STARTING: Final = 0
PARKED: Final = 1  # behind an exclusive consumer
ACTIVE: Final = 2
RETIRING: Final = 3  # gets nothing more, and ends once its open requests are answered

# Of a requester's open request.
WAITING: Final = 0
TAKEN: Final = 1  # DELIVERED was sent
SILENT: Final = 2  # nothing is sent, and only its timeout is kept: it is NOREPLY, or its client is gone
OVER: Final = 3
