"""Base class of the clients that have one connection for requests, and another one for each consumer."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from penstock.client._closing import AsyncClosing
from penstock.client._consumer import AsyncConsumerBase
from penstock.client._link import Link, Unconnected
from penstock.client._options import Address, AddressLike, Options, addresses_of
from penstock.client._requests import Requests

RequestsType = TypeVar("RequestsType", bound=Requests)
ConsumerType = TypeVar("ConsumerType", bound=AsyncConsumerBase[Any])


class AsyncClientBase(AsyncClosing, Generic[RequestsType, ConsumerType]):
    _default_port: ClassVar[int]

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._addresses: list[Address] = []
        self._requests = cast(RequestsType, Unconnected())
        self._consumers: dict[Hashable, ConsumerType] = {}

    def _make_requests(self) -> RequestsType:
        raise NotImplementedError

    def _prepare(self, address: AddressLike | Sequence[AddressLike]) -> Link:
        self._addresses = addresses_of(address, self._default_port)
        self._requests = self._make_requests()
        return self._requests.link

    async def connect(self, address: AddressLike | Sequence[AddressLike] = "") -> Self:
        """Connect to the first address that answers. Raises ConnectFailed when none does."""
        await self._prepare(address).open()
        return self

    async def _start(
        self,
        key: Hashable,
        consumer: ConsumerType,
        handler: Callable[[Any], object] | None,
        timeout: float | None,
        *,
        wait: bool = True,
    ) -> ConsumerType:
        self._consumers[key] = consumer
        try:
            if wait:
                await consumer.start(timeout)
            else:
                consumer.link.start()
        except BaseException:
            self._consumers.pop(key, None)
            raise
        if handler is not None:
            consumer.handle(handler)
        return consumer

    async def _close_consumers(self) -> None:
        for consumer in list(self._consumers.values()):
            await consumer.close()
        self._consumers.clear()

    async def close(self) -> None:
        """Send what is still buffered and close all connections."""
        await self._close_consumers()
        if self._addresses:
            await self._requests.close()
