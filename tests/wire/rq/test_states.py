"""What a node may send in which state, and how the states follow one another."""

import pytest

from penstock.wire.rq.states import ACTIVE, ALIVE, IDLE, LEAVING, OPEN, OPENING, PARKED, PINGED, RETIRING, STOPPING


def node_in(house, phase):
    """A node that waits for a reply, so that its connection stays open in every phase."""
    worker = house.consumer(f"work-{phase}")
    node = house.node().request(1, f"work-{phase}", "x")
    worker.delivered(0)
    if phase == LEAVING:
        node.say("CLOSING")
    elif phase == STOPPING:
        node.session.goodbye(house.now)
    node.hear()
    assert node.session.phase == phase
    return node


@pytest.mark.parametrize(
    ("words", "when_open", "after_closing", "reasons"),
    [
        ("ID=2 QUEUE=q PAYLOAD=x REQUEST", [], ["ID=2 UNDELIVERED"], ["REQUEST after CLOSING"]),
        ("QUEUE=q PAYLOAD=x REQUEST", ["UNDELIVERED"], ["UNDELIVERED"], ["REQUEST needs an ID"]),
        ("QUEUE=q CONSUME", ["QUEUEID=2 QUEUE=q CONSUMING"], [], ["CONSUME after CLOSING"]),
        ("CONSUME", [], [], ["CONSUME after CLOSING"]),
        ("QUEUE=q PAYLOAD=x BROADCAST", [], [], []),
        ("QUEUE=q CANCEL_QUEUE", [], [], []),
        ("ID=9 DELIVERED", [], [], ["DELIVERED for an ID that is not open"]),
        ("ID=9 REPLY", [], [], ["REPLY for an ID that is not open"]),
        ("ID=9 UNDELIVERED", [], [], ["UNDELIVERED for an ID that is not open"]),
        ("PING", ["PONG"], ["PONG"], []),
        ("PONG CONSUMING SERVER_FULL NOP", [], [], []),
    ],
)
def test_an_action_does_what_the_table_says_for_the_phase(house, words, when_open, after_closing, reasons) -> None:
    assert node_in(house, OPEN).say(f"CLEAR {words}").hear() == when_open
    for phase in (LEAVING, STOPPING):
        node = node_in(house, phase)
        house.reasons()
        assert node.say(f"CLEAR {words}").hear() == after_closing
        assert house.reasons() == reasons
        assert node.session.phase == phase
        assert not node.closed()


def test_a_connection_only_moves_forward(house) -> None:
    worker, node = house.consumer("work"), house.node()
    phases = [node.session.phase]
    node.feed(b"P")
    phases.append(node.session.phase)
    node.feed(b"\x05")
    phases.append(node.session.phase)
    node.request(1, "work", "x")
    worker.delivered(0)
    node.say("CLOSING")
    phases.append(node.session.phase)
    node.session.goodbye(house.now)
    phases.append(node.session.phase)
    node.say("CLOSING")
    phases.append(node.session.phase)
    assert phases == [OPENING, OPENING, OPEN, LEAVING, STOPPING, STOPPING]
    assert [group.split()[-1] for group in node.hear()] == ["DELIVERED", "CLOSING"]


def test_a_silent_node_is_pinged_then_IDLE_until_any_byte(house) -> None:
    node = house.node()
    for state, heard in ((PINGED, ["PING"]), (IDLE, []), (IDLE, [])):
        house.advance(15)
        assert (node.session.liveness, node.hear()) == (state, heard)
    node.feed(b"\x00")
    assert node.session.liveness == ALIVE
    house.advance(15)
    node.feed(b"\x00")
    assert (node.session.liveness, node.hear()) == (ALIVE, ["PING"])


def test_a_consumer_is_parked_active_and_retiring(house) -> None:
    first, second = house.consumer("work", "EXCLUSIVE"), house.node()
    second.consume("work")
    consumer = second.session.consumers.by_queue[b"work"]
    states = [consumer.state]
    first.leave()
    states.append(consumer.state)
    house.node().request(0, "work", "x")
    second.say("CLEAR QUEUE=work CANCEL_QUEUE")
    states.append(consumer.state)
    second.consume("work")
    states.append(consumer.state)
    assert states == [PARKED, ACTIVE, RETIRING, ACTIVE]
