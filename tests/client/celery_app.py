"""Tasks for a real Celery worker; `PENSTOCK_TEST_ADDRESS` says where the broker is."""

import os
import signal
import time

from celery import Celery

import penstock.adapters.kombu  # noqa: F401 makes penstock:// known

app = Celery("celery_app", broker=f"penstock://{os.environ['PENSTOCK_TEST_ADDRESS']}//", backend="rpc://")
app.conf.broker_connection_retry_on_startup = True
app.conf.worker_prefetch_multiplier = 1


@app.task
def add(x: int, y: int) -> int:
    return x + y


@app.task(bind=True, max_retries=3, default_retry_delay=0.05)
def third_time(self) -> int:
    if self.request.retries < 2:
        raise self.retry()
    return int(self.request.retries)


@app.task(acks_late=True, reject_on_worker_lost=True)
def die_once(marker: str) -> str:
    """Kills its worker, with all its processes, the first time it is run."""
    try:
        with open(marker, "x"):  # noqa: PTH123
            pass
    except FileExistsError:
        return "done"
    os.killpg(os.getpgid(0), signal.SIGKILL)
    time.sleep(60)
    return "never"
