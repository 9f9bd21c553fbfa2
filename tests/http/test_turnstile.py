"""Requests over HTTP that come at once begin one after the other, and messages have their turn in between."""

import asyncio

from penstock.http.turnstile import Turnstile


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
        turnstile, turns = Turnstile(), Turns()
        began: list[int] = []
        order: list[int] = []

        async def request(number: int) -> None:
            await turnstile.go_through()
            order.append(number)
            began.append(turns.count)

        await asyncio.gather(*[request(number) for number in range(20)])
        assert len(turnstile) == 0
        return order, began

    order, began = asyncio.run(run())
    assert order == list(range(20))
    assert len(set(began)) == 20


def test_a_request_that_was_given_up_keeps_nobody_waiting() -> None:
    async def run() -> None:
        turnstile = Turnstile()
        await turnstile.go_through()
        waiting = [asyncio.ensure_future(turnstile.go_through()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting[1:])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await turnstile.go_through()  # at once

    asyncio.run(run())
