"""RQ beside the other protocols: one queue, consumers of several kinds."""

from penstock.message import TO_QUEUE, Message
from penstock.wire.rq.consumer import NOREPLY_HEADER, is_noreply


class MqksClient:
    def __init__(self, house) -> None:
        self.house = house
        self.session = house.mqks.open("mqks", house.now)

    def say(self, line: bytes) -> list[bytes]:
        self.session.feed(line + b"\n", self.house.now)
        self.house.turn()
        return self.hear()

    def hear(self) -> list[bytes]:
        return self.session.drain().split(b"\n")[:-1]


def test_a_message_of_another_protocol_is_a_NOREPLY_request(house) -> None:
    node, mqks = house.node(), MqksClient(house)
    mqks.say(b"c consume jobs e")
    mqks.session.end(house.now)
    MqksClient(house).say(b"m1 publish e hello")
    assert node.consume("jobs") == ["QUEUEID=1 QUEUE=jobs CONSUMING", "QUEUEID=1 PAYLOAD=hello NOREPLY ID=0 REQUEST"]
    node.delivered(0)
    assert house.broker.queues[b"jobs"].unacked == 0


def test_an_empty_message_of_another_protocol_comes_as_the_end_of_a_C_string(house) -> None:
    node = house.consumer("jobs")
    house.broker.put(b"jobs", Message(b"m", b"jobs", b"", 0, "mqmq"))
    assert node.drain() == b"\x01\x60\x00\x01\xe0\x00\x00\x00\x01\x00\x21\x80\x00\x00\x00\x00\x0a"


def test_an_MQKS_consumer_answers_a_request_by_publishing_to_the_reply_event(house) -> None:
    mqks, requester = MqksClient(house), house.node()
    mqks.say(b"c consume jobs none --manual-ack")
    requester.request(42, "jobs", "2+2")
    consumer_id, ok, message_id, properties, body = mqks.hear()[0].split(b" ")
    assert (consumer_id, ok, properties, body) == (b"c", b"ok", b"event=jobs", b"2+2")
    mqks.say(b"x publish reply/%s 4" % message_id)
    assert requester.hear() == ["ID=42 DELIVERED", "ID=42 PAYLOAD=4 REPLY"]
    mqks.say(b"y ack c %s" % message_id)
    mqks.say(b"x publish reply/%s again" % message_id)
    assert requester.hear() == []


def test_a_reply_may_be_put_to_the_reply_queue_which_does_not_come_to_be(house) -> None:
    mqks, requester, other = MqksClient(house), house.node(), house.node()
    mqks.say(b"c consume jobs none")
    requester.request(42, "jobs", "2+2")
    message_id = mqks.hear()[0].split(b" ")[2].decode()
    assert requester.hear() == ["ID=42 DELIVERED"]
    assert other.request(7, f"reply/{message_id}", "4", "NOREPLY").hear() == ["ID=7 DELIVERED"]
    assert requester.hear() == ["ID=42 PAYLOAD=4 REPLY"]
    assert list(house.broker.queues) == [b"jobs"]


def test_a_reply_that_is_sent_as_a_request_is_delivered_and_not_waited_for(house) -> None:
    mqks, requester, other = MqksClient(house), house.node(), house.node()
    mqks.say(b"c consume jobs none")
    requester.request(42, "jobs", "2+2")
    message_id = mqks.hear()[0].split(b" ")[2].decode()
    assert other.request(7, f"reply/{message_id}", "4").hear() == ["ID=7 DELIVERED"]
    assert not other.session.requests
    assert requester.hear() == ["ID=42 DELIVERED", "ID=42 PAYLOAD=4 REPLY"]


def test_a_committed_reply_goes_to_whoever_asked_and_makes_no_queue(house) -> None:
    mqks, requester = MqksClient(house), house.node()
    mqks.say(b"c consume jobs none")
    requester.request(1, "jobs", "2+2").request(2, "jobs", "3+3")
    first, second = [line.split(b" ")[2] for line in mqks.hear()]
    assert requester.hear() == ["ID=1 DELIVERED", "ID=2 DELIVERED"]
    to_queue = Message(b"b", b"reply/" + second, b"6", 0, "http")
    to_queue.route = TO_QUEUE
    assert house.broker.commit(b"w", 1, [Message(b"a", b"reply/" + first, b"4", 0, "http"), to_queue])
    assert requester.hear() == ["ID=1 PAYLOAD=4 REPLY", "ID=2 PAYLOAD=6 REPLY"]
    assert list(house.broker.queues) == [b"jobs"]


def test_the_id_of_one_request_says_nothing_of_the_next(house) -> None:
    """Whoever knows the id of a request may answer it."""
    mqks, requester = MqksClient(house), house.node()
    mqks.say(b"c consume jobs none")
    requester.request(1, "jobs", "a").request(2, "jobs", "b")
    first, second = [line.split(b" ")[2].rpartition(b".")[2] for line in mqks.hear()]
    assert len(first) == len(second) == 24  # 96 bits
    assert sum(a != b for a, b in zip(first, second, strict=True)) > 8


def test_a_request_accepted_by_another_protocol_is_DELIVERED_and_waits_until_its_TIMEOUT(house) -> None:
    mqks, requester = MqksClient(house), house.node()
    mqks.say(b"c consume jobs none --manual-ack")
    requester.request(42, "jobs", "2+2", "TIMEOUT=5")
    assert requester.hear() == []
    message_id = mqks.hear()[0].split(b" ")[2]
    mqks.say(b"a ack c %s" % message_id)
    assert requester.hear() == ["ID=42 DELIVERED"]
    house.advance(5)
    assert requester.hear() == ["ID=42 UNDELIVERED"]
    mqks.say(b"x publish reply/%s late" % message_id)
    assert requester.hear() == []


def test_NOREPLY_is_not_seen_by_other_protocols(house) -> None:
    mqks, requester = MqksClient(house), house.node()
    mqks.say(b"c consume jobs none")
    assert requester.request(1, "jobs", "x", "NOREPLY").hear() == ["ID=1 DELIVERED"]
    line = mqks.hear()[0]
    assert line.split(b" ")[3:] == [b"event=jobs", b"x"]
    assert b"noreply" not in line


def test_a_NOREPLY_with_a_TIMEOUT_ends_with_its_delivery_to_another_protocol(house) -> None:
    mqks, requester = MqksClient(house), house.node()
    mqks.say(b"c consume jobs none")
    requester.request(1, "jobs", "x", "NOREPLY TIMEOUT=100")
    requester.leave()
    assert house.broker.deadlines.next_due() == -1


def test_a_BROADCAST_reaches_consumers_of_other_protocols(house) -> None:
    mqks = MqksClient(house)
    mqks.say(b"c consume jobs none --manual-ack")
    house.node().say("CLEAR QUEUE=jobs PAYLOAD=news BROADCAST")
    assert mqks.hear()[0].endswith(b" event=jobs news")
    assert house.broker.queues[b"jobs"].unacked == 0


def test_a_request_that_outlives_its_requester_is_still_given_as_a_request(house) -> None:
    """What comes from the log after a restart has no requester, and is the same to its consumer."""
    request = Message(b"m", b"q", b"x", 0, "rq")
    noreply = Message(b"m", b"q", b"x", 0, "rq", {NOREPLY_HEADER: b"1"})
    assert (is_noreply(request), is_noreply(noreply)) == (False, True)


def test_UNDELIVERED_rejects_a_message_of_another_protocol(house) -> None:
    node = house.consumer("jobs")
    house.broker.put(b"jobs", Message(b"m", b"jobs", b"x", 0, "mqmq"))
    node.hear()
    node.say("CLEAR ID=0 UNDELIVERED")
    assert node.hear() == ["QUEUEID=1 PAYLOAD=x NOREPLY ID=1 REQUEST"]
