"""Fixtures that pytest registers when Penstock is installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from penstock.testing import Broker, BrokerProcess


@pytest.fixture
def penstock_broker() -> "Iterator[Broker]":
    """A broker in this process, new for each test."""
    from penstock.testing import Broker  # imported on use, so that other test runs start as fast as before

    with Broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def penstock_process() -> "Iterator[BrokerProcess]":
    """A broker in a separate process, one for the whole run."""
    from penstock.testing import BrokerProcess

    with BrokerProcess() as broker:
        yield broker
