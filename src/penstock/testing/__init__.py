"""A running broker for tests: in this process, started within milliseconds, or in a separate process.

    from penstock.testing import Broker

    with Broker() as broker:
        client = mqks.Client().connect(broker.address("mqks"))

With users, permissions and TLS:

    with Broker(users={"alice": ["publish *"]}, tls=True) as broker:
        client = mqks.Client(broker.options("alice")).connect(broker.address("mqks"))

The pytest fixtures `penstock_broker` and `penstock_process` are registered automatically.
"""

from penstock.testing._broker import Broker as Broker
from penstock.testing._process import BrokerProcess as BrokerProcess
