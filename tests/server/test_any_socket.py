"""The one door on real sockets."""

from .conftest import RunningBroker


def test_two_protocols_meet_at_one_port(broker: RunningBroker) -> None:
    worker, producer = broker.connect("any"), broker.connect("any")
    worker.send(b"c consume --confirm jobs jobs\n")
    assert worker.line() == b"c ok "
    producer.send(b"M:jobs:{}\n")
    assert worker.line().endswith(b" event=jobs {}")


def test_an_unterminated_command_is_answered_after_a_rest(broker: RunningBroker) -> None:
    client = broker.connect("any")
    client.send(b"S")
    assert client.line() == b"{}"


def test_what_a_listener_held_goes_when_its_client_does(broker: RunningBroker) -> None:
    client = broker.connect("any")
    client.send(b"C:half")
    client.close()
    other = broker.connect("any")
    other.send(b"1 _eval len(state.socks_by_clients)\n")
    assert other.line() in (b"1 ok 1", b"1 ok 2")


def test_nonsense_is_closed(broker: RunningBroker) -> None:
    client = broker.connect("any")
    client.send(b"\x80\x81\x82")
    assert client.closed_by_peer()
    (report,) = broker.reported("request.refused")
    assert "unknown protocol" in str(report["reason"])
