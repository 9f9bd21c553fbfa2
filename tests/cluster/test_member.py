"""What a member does once it was stopped."""

from penstock.cluster.member import BIDDING, STOPPED

from .world import World


def test_a_member_that_was_stopped_while_it_bid_does_not_lead() -> None:
    world = World(1)
    while not any(node.member.role == BIDDING for node in world.nodes):
        world.timeline.run(0.001)
    node = next(node for node in world.nodes if node.member.role == BIDDING)
    node.member.stop()
    world.timeline.run(0.5)
    assert node.member.role == STOPPED
    assert node.broker is None
