"""Fixtures that pytest finds by itself where Penstock is installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from penstock.testing import Broker, BrokerProcess


@pytest.fixture
def penstock_broker() -> "Iterator[Broker]":
    """A broker in this process, new for each test."""
    from penstock.testing import Broker  # imported when it is asked for: others' test runs start as fast as before

    with Broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def penstock_process() -> "Iterator[BrokerProcess]":
    """A broker as a process of its own, one for the whole run."""
    from penstock.testing import BrokerProcess

    with BrokerProcess() as broker:
        yield broker
