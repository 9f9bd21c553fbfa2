"""Property tests draw the same examples on every run, and are not judged by how busy the machine is."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "penstock",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("penstock")

# A shell that starts us in the background has Ctrl-C ignored, and so would have every program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
