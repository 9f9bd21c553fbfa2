"""Internal batch sizes, cache sizes and thresholds. They affect speed, never behaviour.

Their values come from measurement, and they are not settings of the broker. Tests set them to 1 or 2, so that the edge
cases of a thousand messages occur in a queue of three.
"""


class Tuning:
    def __init__(self) -> None:
        # Queues.
        self.congested_bytes = 1 << 20  # above this, producers to a queue with consumers are slowed down
        self.head_bytes_max = 8 << 20  # of a backlog in memory; above it, new messages go to the tail
        self.tail_bytes_max = 1 << 20  # above it, the tail is sealed
        self.page_length = 512  # messages paged in at a time ...
        self.page_bytes = 1 << 20  # ... or fewer, if they exceed this size
        self.look_length = 500  # messages examined per step when walking a whole queue ...
        self.look_bytes = 1 << 20  # ... or fewer, if they exceed this size
        self.stretch_near = 1000  # unsettled offsets at most this far apart are reported as one stretch
        self.stale_timers_max = 64  # cancelled timers that may stay in place
        self.id_page_length = 4096  # ids per deduplication page; a snapshot shares pages without copying
        # Offsets that are not in memory.
        self.span_length = 4096  # most offsets in a span that lists them
        self.run_worth = 512  # this many consecutive offsets get a span of their own
        self.wide_piece = 64  # up to this many offsets between two messages with places are listed with them
        self.spans_crowded = 256  # during replay: this many short spans are merged
        self.spans_used_up = 1000  # during replay: this many empty spans are dropped
        # The log.
        self.block_bytes_max = 8 << 20  # an event loop iteration with more data than this is written as several blocks
        self.block_joined_max = 1 << 20  # a larger block is written in pieces
        self.index_stride = 256 << 10  # bytes between two points of a segment's index
        self.readers_max = 16  # open cursors
        self.blocks_max = 64  # recently read blocks that are cached ...
        self.blocks_bytes_max = 32 << 20  # ... or fewer, if they exceed this size
        self.skip_max = 20_000  # up to this many offsets are read and skipped instead of opening a new cursor ...
        self.skip_bytes = 1 << 20  # ... or fewer, if they exceed this size
        self.set_turns(1)

    def set_turns(self, part: int) -> None:
        """Limit the work per event loop iteration to 1/`part` of the normal amount; the rest is done in later ones."""
        self.at_once = 1000 // part  # messages of a queue that become due, expire or are requeued
        self.given_at_once = 4096 // part  # messages of a queue delivered to consumers
        self.given_bytes = (4 << 20) // part  # bytes delivered from all queues, not counting small messages
        self.freed_at_once = 512 // part  # queues checked for messages that the log can read back
        self.tick_work = 2048 // part  # units of work on due timers
        self.read_at_once = (8 << 20) // part  # bytes read back from the log; a queue's messages may be far apart
