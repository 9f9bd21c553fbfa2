"""Two well-behaved clients that must not notice what others do."""

from typing import Final

from fuzz.world import Client, World

KEPT_COUNT: Final = 3  # messages that stay queued for the witness until the end


class Witness:
    """One client that publishes, one that consumes, and a queue that has no consumer until the end."""

    def __init__(self, world: World, name: bytes) -> None:
        self.world = world
        self.name = name
        self.count = 0
        self.publisher = world.connect("mqks", "mqks", "publisher")
        self.consumer = world.connect("mqks", "mqks", "consumer")
        assert self._say(self.consumer, b"w%s consume --confirm w%s w%s\n" % (name, name, name)) == b"w%s ok \n" % name
        self._consume_kept()
        self._say(self.consumer, b"d delete_consumer k%s\n" % name)
        for number in range(KEPT_COUNT):
            assert self._say(self.publisher, b"k%d publish k%s x\n" % (number, name)) == b""

    def _say(self, client: Client, line: bytes) -> bytes:
        """The answer, without errors about other clients' full queues, which a witness cannot know of."""
        client.feed(line)
        self.world.turn()
        answer = bytes(client.output)
        client.output.clear()
        return b"".join(line for line in answer.splitlines(keepends=True) if b" error " not in line)

    def _consume_kept(self) -> bytes:
        return self._say(self.consumer, b"k%s consume k%s k%s\n" % (self.name, self.name, self.name))

    def look(self) -> None:
        """Publishes, and checks that the message arrives."""
        self.count += 1
        confirm = b"--confirm " if self.count % 2 else b""
        answer = self._say(self.publisher, b"%d publish %sw%s %d\n" % (self.count, confirm, self.name, self.count))
        if answer:
            assert answer == b"%d ok \n" % self.count
        expected = b"w%s ok %d event=w%s %d\n" % (self.name, self.count, self.name, self.count)
        assert self.consumer.output == expected, f"the witness got {bytes(self.consumer.output)!r} for {expected!r}"
        self.consumer.output.clear()

    def leave(self) -> None:
        """Consumes the kept messages and disconnects."""
        self.look()
        got = self._consume_kept()
        assert got == b"".join(b"k%s ok k%d event=k%s x\n" % (self.name, n, self.name) for n in range(KEPT_COUNT))
        self.publisher.end()
        self.consumer.end()
