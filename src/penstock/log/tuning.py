"""How much is done at a time, kept open or put together: sizes that decide how fast things are, and never what happens.

They are as good as measurement made them, and no setting of the broker. A test sets them to 1 or 2, so that what
happens at the edge of a thousand happens in a queue of three messages.
"""


class Tuning:
    def __init__(self) -> None:
        # Queues.
        self.congested_bytes = 1 << 20  # a queue with consumers and more in it: whoever fills it waits for a moment
        self.head_bytes_max = 8 << 20  # of a backlog in memory; above it new messages go to the tail
        self.tail_bytes_max = 1 << 20  # above it the tail is sealed
        self.page_length = 512  # messages that are paged in at a time ...
        self.page_bytes = 1 << 20  # ... unless these are large
        self.look_length = 500  # messages that are looked at in one step, where all of a queue is ...
        self.look_bytes = 1 << 20  # ... unless these are large
        self.stretch_near = 1000  # owed offsets this close to each other are spoken of as one stretch
        self.stale_timers_max = 64  # cancelled timers that may stay where they are
        self.id_page_length = 4096  # remembered ids that a snapshot takes as they are
        # Offsets that are not in memory.
        self.span_length = 4096  # how many a listing span has at most
        self.run_worth = 512  # consecutive offsets that are worth a span of their own
        self.wide_piece = 64  # fewer offsets than this between two messages with places are listed with them
        self.spans_crowded = 256  # while a log is read back: so many short spans are put together
        self.spans_used_up = 1000  # likewise: so many empty ones are dropped
        # The log.
        self.block_bytes_max = 8 << 20  # a turn that took more than this is written as several blocks
        self.block_joined_max = 1 << 20  # a larger block is written in the pieces it is made of
        self.index_stride = 256 << 10  # bytes of a segment from one point of its index to the next
        self.readers_max = 16  # places of the log that are kept open
        self.blocks_max = 64  # blocks that are kept, those read last ...
        self.blocks_bytes_max = 32 << 20  # ... unless these are large
        self.skip_max = 20_000  # offsets that are rather read past than looked up ...
        self.skip_bytes = 1 << 20  # ... unless more bytes lie between
        self.set_turns(1)

    def set_turns(self, part: int) -> None:
        """Do in a turn one of so many parts of what is done in one when nobody waits; the rest is for later turns."""
        self.at_once = 1000 // part  # messages of a queue that come due, expire or come back
        self.given_at_once = 4096 // part  # messages of a queue that consumers are given
        self.given_bytes = (4 << 20) // part  # of messages that are not small, of all queues, that are given out
        self.freed_at_once = 512 // part  # queues that are looked at for what the log can give back
        self.tick_work = 2048 // part  # pieces of work for what is due
        self.read_at_once = (8 << 20) // part  # bytes that are read back: what a queue owes may lie far apart
