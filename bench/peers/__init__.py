"""All peers of the bench, in the order of the report. Ours is first; ratios are taken against it."""

from bench.peers import durable, nats, penstock, protocols, rabbitmq, redis, tls
from bench.peers.base import Missing, Mode, Peer

PEERS: tuple[type[Peer], ...] = (
    penstock.Mqks,
    nats.Core,
    nats.JetStream,
    redis.PubSub,
    redis.List,
    redis.Stream,
    rabbitmq.Transient,
)

PROTOCOLS: tuple[type[penstock.Penstock], ...] = (
    penstock.Mqks,
    penstock.Any,
    protocols.Smqs,
    protocols.Sevx,
    protocols.SevxCrowd,
    protocols.MqmqPut,
    protocols.MqmqGet,
    protocols.Rq,
)
"""The table of protocols: views of one server. The first is what the others are measured by."""

DURABLE: tuple[type[Peer], ...] = (durable.Mqks, durable.JetStream, durable.Stream, durable.Persistent)
"""What is stored on disk. The first is ours, here and below."""

CONFIRMED: tuple[type[Peer], ...] = (durable.Mqks, durable.JetStream)
"""Those that many publishers wait for."""

BACKLOG: tuple[type[Peer], ...] = (durable.Mqks, durable.StreamRewritten, durable.Persistent)
"""Those that are restarted with a long queue."""

TLS: tuple[type[Peer], ...] = (tls.Mqks, tls.Nats)
"""Those that are measured with encryption."""

__all__ = ["BACKLOG", "CONFIRMED", "DURABLE", "PEERS", "PROTOCOLS", "TLS", "Missing", "Mode", "Peer"]
