"""The backlog of `bench.memory`: its contents, and how it is built."""

import http.client
import socket

from penstock.cli.load_protocols import frame

SMALL, MEDIUM, LARGE, HUGE = "small", "medium", "large", "huge"
HEADED = "headed"  # small bodies, large headers
WORK, DEAD = "work", "work.dead"
LATER = "later"  # delayed for longer than any attack takes
OTHERS = [f"other.{number}" for number in range(50)]

# For each queue: the share of all bytes, and the body size in bytes.
SHARES = {SMALL: (0.24, 100), MEDIUM: (0.28, 4096), LARGE: (0.24, 1_000_000), HUGE: (0.10, 16_000_000)}
OTHERS_SHARE = 0.10
OTHERS_SIZE = 20_000
OVERHEAD = 300  # bytes that a small message takes in log and memory besides its body
HEADED_PER_BYTE = 1 / 100_000
DEAD_PER_BYTE = 1 / 100_000
LATER_PER_BYTE = 1 / 50_000

CONFIG = """
[[policy]]
queues = ["work", "rejected"]
dead_letter = "{queue}.dead"
"""

CHUNK = 1 << 20
UNDER_WAY_MAX = 20_000


def fill(ports: dict[str, int], size: int, largest: int = 32_000_000) -> str:
    """Builds the backlog; returns when it is stored."""
    counts: dict[str, int] = {}
    for queue, (share, body_size) in SHARES.items():
        body_size = min(body_size, largest)
        cost = body_size + (OVERHEAD if body_size < OVERHEAD else 0)
        counts[queue] = max(2, int(share * size) // cost)
        put(ports["mqmq"], queue, body_of(body_size), counts[queue])
    for queue in OTHERS:
        counts[queue] = max(1, int(OTHERS_SHARE * size) // OTHERS_SIZE // len(OTHERS))
        put(ports["mqmq"], queue, body_of(OTHERS_SIZE), counts[queue])
    put_headed(ports["http"], max(100, int(size * HEADED_PER_BYTE)))
    bury(ports, max(100, int(size * DEAD_PER_BYTE)))
    put_later(ports["mqks"], max(100, int(size * LATER_PER_BYTE)))
    return f"{sum(counts.values()):,} messages in {len(counts) + 3} queues"


def body_of(size: int) -> bytes:
    """A JSON object of that size, so that every protocol can carry it unchanged."""
    head, tail = b'{"kind":"order","text":"', b'"}'
    return head + b"0123456789abcdef" * (size // 16) + tail


def put(port: int, queue: str, body: bytes, count: int) -> None:
    """Confirmed puts, some thousands in flight at a time."""
    one = frame(b"Put", queue.encode(), body)
    confirmation = len(frame(b"OK"))
    many = max(1, CHUNK // len(one))
    with socket.create_connection(("127.0.0.1", port), timeout=120) as sock:
        sent = confirmed = 0
        while confirmed < count:
            now = min(many, count - sent)
            sock.sendall(one * now)
            sent += now
            least = confirmed if sent < count and sent - confirmed < UNDER_WAY_MAX else sent
            if least > confirmed:
                read_exactly(sock, (least - confirmed) * confirmation)
                confirmed = least


def read_exactly(sock: socket.socket, size: int) -> None:
    while size > 0:
        data = sock.recv(min(size, 1 << 16))
        if not data:
            raise ConnectionError("closed by the broker")
        size -= len(data)


def put_headed(port: int, count: int) -> None:
    """Headers can only be published over HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        import pyarrow as pa
    except ImportError:
        return
    headers = [(f"header-{number}", "v" * 100) for number in range(20)]
    types = pa.map_(pa.string(), pa.string())
    while count > 0:
        now = min(count, 2000)
        count -= now
        columns = {
            "queue": pa.array([HEADED] * now, pa.string()),
            "body": pa.array([body_of(100)] * now, pa.binary()),
            "headers": pa.array([headers] * now, types),
        }
        table = pa.table(columns)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        media_type = {"content-type": "application/vnd.apache.arrow.stream"}
        connection.request("POST", "/v1/publish", sink.getvalue().to_pybytes(), media_type)
        response = connection.getresponse()
        told = response.read()
        if response.status >= 300:
            raise RuntimeError(f"the broker does not take messages with headers: {told[:500]!r}")
    connection.close()


def bury(ports: dict[str, int], count: int) -> None:
    """Dead letters: messages of `work` that the consumer rejects with `--dead`."""
    put(ports["mqmq"], WORK, body_of(500), count)
    with socket.create_connection(("127.0.0.1", ports["mqks"]), timeout=60) as sock:
        sock.sendall(b"c consume --confirm --manual-ack work work\n")
        buffer = b""
        seen = 0
        while seen < count:
            buffer += sock.recv(1 << 20)
            lines = buffer.split(b"\n")
            buffer = lines.pop()
            ids = [line.split(b" ", 3)[2] for line in lines if line.startswith(b"c ok ") and len(line) > 20]
            seen += len(ids)
            sock.sendall(b"".join(b"r reject c %s --dead\n" % id for id in ids))
        sock.sendall(b"p publish --confirm nobody.listens x\n")
        while b"p ok" not in buffer:
            buffer = buffer[-10:] + sock.recv(1 << 16)


def put_later(port: int, count: int) -> None:
    """Delayed messages: an event with one queue bound to it."""
    body = body_of(1000)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        sock.sendall(b"c consume --confirm later later\nd delete_consumer --confirm c\n")
        buffer = b""
        while b"d ok" not in buffer:
            buffer += sock.recv(1 << 16)
        while count > 0:
            now = min(count, 500)
            count -= now
            sock.sendall(b"".join(b"m%d publish --delay=3600 later %s\n" % (number, body) for number in range(now)))
        sock.sendall(b"p publish --confirm nobody.listens x\n")
        while b"p ok" not in buffer:
            buffer = buffer[-10:] + sock.recv(1 << 16)
