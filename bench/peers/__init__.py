"""Every peer the bench knows, in the order of the report. Ours comes first; ratios are taken against it."""

from bench.peers import nats, penstock, rabbitmq, redis
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

__all__ = ["PEERS", "Missing", "Mode", "Peer"]
