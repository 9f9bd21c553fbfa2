"""Property tests draw the same examples on every run, and are not judged by how busy the machine is."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "penstock",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("penstock")
