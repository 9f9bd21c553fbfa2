"""Requests over HTTP go on one after the other, a step in each turn, and messages have theirs in between."""

import asyncio

from penstock.http.steps import Steps, pass_on


class Turns:
    """Counts the turns of a loop."""

    def __init__(self) -> None:
        self.count = 0
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self.count += 1
        asyncio.get_running_loop().call_soon(self._turn)


def test_requests_that_come_at_once_begin_in_turns_of_their_own_in_the_order_they_came() -> None:
    async def run() -> tuple[list[int], list[int]]:
        steps, turns = Steps(), Turns()
        began: list[int] = []
        order: list[int] = []

        async def request(number: int) -> None:
            await steps.begin("one")
            order.append(number)
            began.append(turns.count)

        await asyncio.gather(*[request(number) for number in range(20)])
        assert len(steps) == 0
        return order, began

    order, began = asyncio.run(run())
    assert order == list(range(20))
    assert len(set(began)) == 20


def test_a_request_that_was_given_up_keeps_nobody_waiting() -> None:
    async def run() -> None:
        steps = Steps()
        await steps.begin("one")
        waiting = [asyncio.ensure_future(steps.begin("one")) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting[1:])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await steps.begin("one")  # at once

    asyncio.run(run())


def test_whoever_has_many_requests_has_a_step_for_each_that_another_has() -> None:
    async def run() -> list[str]:
        steps = Steps()
        done: list[str] = []

        async def request(holder: str) -> None:
            await steps.begin(holder)
            for _ in range(3):
                done.append(holder)
                await pass_on()

        await asyncio.gather(*[request("greedy") for _ in range(30)], request("modest"))
        return done

    done = asyncio.run(run())
    places = [place for place, holder in enumerate(done) if holder == "modest"]
    assert len(done) == 93
    assert places[-1] <= 7


def test_others_have_a_turn_between_two_steps_though_nobody_is_in_line() -> None:
    async def run() -> list[int]:
        steps, turns = Steps(), Turns()
        seen: list[int] = []
        await steps.begin("one")
        for _ in range(5):
            seen.append(turns.count)
            await pass_on()
        return seen

    seen = asyncio.run(run())
    assert len(set(seen)) == 5


def test_what_nobody_asked_for_goes_on_in_the_next_turn() -> None:
    async def run() -> int:
        turns = Turns()
        await asyncio.sleep(0)
        before = turns.count
        await pass_on()
        return turns.count - before

    assert asyncio.run(run()) == 1
