"""A running broker for tests: in this process within milliseconds, or as a process of its own.

    from penstock.testing import Broker

    with Broker() as broker:
        client = mqks.Client().connect(broker.address("mqks"))

Users, rights and TLS as a broker that others can reach would have them:

    with Broker(users={"alice": ["publish *"]}, tls=True) as broker:
        client = mqks.Client(broker.options("alice")).connect(broker.address("mqks"))

With pytest the fixtures `penstock_broker` and `penstock_process` are there by themselves.
"""

from penstock.testing._broker import Broker as Broker
from penstock.testing._process import BrokerProcess as BrokerProcess
