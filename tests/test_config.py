"""Settings: which source wins, what each may look like, and how a wrong one is told."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from penstock.config import LISTENERS, Config, env_of, flag_of, text_of
from penstock.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "penstock.toml"


def load(flags: dict[str, object] | None = None, env: dict[str, str] | None = None, file: Path | None = None) -> Config:
    return Config.load(flags or {}, env or {}, file)


def refusal_of(
    flags: dict[str, object] | None = None, env: dict[str, str] | None = None, file: Path | None = None
) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        load(flags, env, file)
    return refused.value


@pytest.mark.parametrize("key", ["body_size_max", "line_size_max"])
def test_what_has_to_fit_into_a_block_of_the_log_has_a_limit(key: str) -> None:
    assert getattr(load({key: "1GiB"}), key) == 1 << 30
    refused = refusal_of({key: "2GiB"})
    assert refused.key == key
    assert "at most 1073741824 bytes" in refused.reason


def test_defaults() -> None:
    config = load()
    assert config.host == "127.0.0.1"
    assert (config.data, config.memory, config.directory) == (None, False, Path("penstock-data"))
    assert load({"memory": True}).directory is None
    assert load({"data": "d"}).directory == Path("d")
    assert config.ports() == {
        "mqks": 54321,
        "smqs": 2201,
        "sevx": 54322,
        "mqmq": 47774,
        "rq": 13700,
        "any": 7700,
        "http": 7780,
    }
    assert tuple(config.ports()) == LISTENERS
    assert config.line_size_max == 48 * 1024 * 1024
    assert config.queue_full == "refuse"
    assert config.drain_seconds == 5.0
    assert (config.log_level, config.log_format) == ("info", "auto")


def test_flag_beats_environment_beats_file_beats_default(file: Path) -> None:
    file.write_text("mqks = 1\nsmqs = 2\nsevx = 3\n")
    env = {"PENSTOCK_MQKS": "10", "PENSTOCK_SMQS": "20"}
    config = load({"mqks": "100"}, env, file)
    assert (config.mqks, config.smqs, config.sevx, config.mqmq) == (100, 20, 3, 47774)


def test_process_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_MQKS", "1")
    monkeypatch.setenv("MQKS", "1")
    assert load().mqks == 54321
    assert Config().mqks == 54321


def test_absent_flags_empty_and_foreign_variables_are_passed_over() -> None:
    config = load({"mqks": None, "host": None}, {"PENSTOCK_MQKS": "", "PENSTOCK_PURE": "1", "HOME": "/"})
    assert config == Config()


def test_every_field_is_flag_variable_and_key(file: Path) -> None:
    samples = {"host": "::1", "data": "d", "memory": "true", "queue_full": "drop-oldest", "sync": "off"}
    samples |= {"log_level": "error", "log_format": "json", "auth": "on", "http_proxies": "127.0.0.1, 10.0.0.0/8"}
    samples |= {"tls_client": "required", "tls_min": "1.3", "any_tls": "off"}
    beside: dict[str, dict[str, object]] = {"tls_key": {"tls_cert": "c"}, "tls_ca": {"tls_cert": "c"}}
    beside["tls_client"] = {"tls_cert": "c", "tls_ca": "a"}
    for key in Config.options():
        field = Config.model_fields[key]
        text = samples.get(key, "true" if field.annotation is bool else "7")
        file.write_text(f'{key} = "{text}"\n')
        others = beside.get(key, {})
        given = [load({key: text, **others}), load(others, {env_of(key): text}), load(others, {}, file)]
        assert {getattr(config, key) for config in given} == {getattr(given[0], key)}
        assert getattr(given[0], key) != getattr(Config(), key)


POLICIES = """
[[policy]]
queues = "orders.*"
length_max = "10k"
bytes_max = "64MiB"
full = "dead-letter"
alarm = 0.5
ttl = 60
deliveries_max = 5
retry_delay = 0.5
retry_backoff = 2
retry_delay_max = 30
dead_letter = "{queue}.dead"
dedup = 600

[[policy]]
queues = ["a", "b*"]
"""


def test_policies_are_tables_of_the_file(file: Path) -> None:
    file.write_text(POLICIES)
    first, second = load({}, {}, file).policy
    assert (first.queues, second.queues) == (("orders.*",), ("a", "b*"))
    assert first.model_dump(exclude={"queues"}) == {
        "length_max": 10_000,
        "bytes_max": 64 << 20,
        "full": "dead-letter",
        "alarm": 0.5,
        "ttl": 60.0,
        "deliveries_max": 5,
        "retry_delay": 0.5,
        "retry_backoff": 2.0,
        "retry_delay_max": 30.0,
        "dead_letter": "{queue}.dead",
        "dedup": 600.0,
    }
    assert set(second.model_dump(exclude={"queues"}).values()) == {None}
    assert "policy" not in Config.options()


@pytest.mark.parametrize(
    ("line", "key", "reason"),
    [
        ("lenght_max = 7", "lenght_max", "is not a setting; did you mean length_max?"),
        ("length_max = 0", "length_max", "is not a count"),
        ("bytes_max = true", "bytes_max", "is not a size"),
        ('full = "drop"', "full", "Input should be 'refuse', 'drop-oldest' or 'dead-letter'"),
        ("ttl = -1", "ttl", "is not a number of seconds"),
        ("ttl = 1e10", "ttl", "is too long: at most 1000000000 seconds"),
        ("alarm = 1.5", "alarm", "is not a fraction"),
        ("retry_backoff = 0.5", "retry_backoff", "is not a factor"),
        ("deliveries_max = 3_000_000_000", "deliveries_max", "Input should be less than or equal to 2147483647"),
        ("dead_letter = 7", "dead_letter", "is not a queue name"),
        (f'dead_letter = "{"x" * 1025}"', "dead_letter", "at most 1024 bytes"),
    ],
)
def test_a_wrong_policy_is_told_with_the_number_of_its_table(file: Path, line: str, key: str, reason: str) -> None:
    file.write_text(POLICIES + line)
    error = refusal_of(file=file)
    assert (error.key, error.source) == (f"policy 2, {key}", f"file {file}")
    assert reason in error.reason


@pytest.mark.parametrize(
    "line", ["policy = 5", "[policy]\nqueues = 1", "[[policy]]\nttl = 1", "[[policy]]\nqueues = []"]
)
def test_what_is_no_list_of_policies_is_told(file: Path, line: str) -> None:
    file.write_text(line)
    assert refusal_of(file=file).key.startswith("policy")


def test_file_types(file: Path) -> None:
    file.write_text(
        'host = "0.0.0.0"\ndata = "var/log"\nany = "off"\nhttp = 0\nbody_size_max = "1.5 MiB"\nunacked_max = 7\n'
        'queue_full = "drop-oldest"\ndrain_seconds = 2\n'
    )
    config = load({}, {}, file)
    assert config.data == Path("var/log")
    assert (config.any, config.http) == (None, 0)
    assert (config.body_size_max, config.unacked_max) == (3 * 2**19, 7)
    assert (config.queue_full, config.drain_seconds) == ("drop-oldest", 2.0)


@pytest.mark.parametrize(
    ("text", "port"),
    [("0", 0), ("65535", 65535), (" 80 ", 80), ("off", None), ("OFF", None), (8080, 8080)],
)
def test_port(text: object, port: int | None) -> None:
    assert load({"rq": text}).rq == port


@pytest.mark.parametrize(
    "text", ["-1", "65536", -1, 65536, "x", "", "on", "1.5", 1.5, True, False, "٣", "9" * 5000, []]
)
def test_not_a_port(text: object) -> None:
    error = refusal_of({"rq": text})
    assert (error.key, error.value, error.source) == ("rq", text, "flag --rq")
    assert "is not a port" in error.reason


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (5, 5),
        ("5", 5),
        ("5B", 5),
        ("10k", 10_000),
        ("10 kB", 10_000),
        ("10KiB", 10_240),
        ("64MiB", 64 << 20),
        ("64 MB", 64_000_000),
        ("64mib", 64 << 20),
        ("1.5GiB", 3 << 29),
        ("0.5k", 500),
        ("2Gi", 2 << 30),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_size(text: object, size: int) -> None:
    assert load({"memory_bytes_max": text}).memory_bytes_max == size


@pytest.mark.parametrize(
    "text",
    ["0", 0, -1, "-5", "", "MiB", "5 apples", "5 MiBs", "1e3", "0x10", "1 2", 1.5, True, None, "9" * 40, "0.1", "5iB"],
)
def test_not_a_size(text: object) -> None:
    if text is None:
        assert load({"line_size_max": text}) == Config()
        return
    error = refusal_of({"line_size_max": text})
    assert (error.key, error.source) == ("line_size_max", "flag --line-size-max")
    assert "is not a size" in error.reason


def test_counts_have_no_bytes() -> None:
    assert load({"queues_max": "10k"}).queues_max == 10_000
    assert "is not a count" in refusal_of({"queues_max": "10kB"}).reason


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "soon", True, [], 10**400])
def test_not_seconds(text: object) -> None:
    assert "is not a number of seconds" in refusal_of({"drain_seconds": text}).reason


@pytest.mark.parametrize(("text", "flag"), [("1", True), ("true", True), ("no", False), ("off", False), (True, True)])
def test_memory(text: object, flag: bool) -> None:
    assert load({"memory": text}).memory is flag


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("host", ""),
        ("host", 7),
        ("data", ""),
        ("data", "a\0b"),
        ("data", 7),
        ("memory", "perhaps"),
        ("queue_full", "panic"),
        ("log_level", "loud"),
        ("log_format", "xml"),
    ],
)
def test_other_bad_values(key: str, value: object) -> None:
    error = refusal_of({key: value})
    assert (error.key, error.value, error.source) == (key, value, f"flag {flag_of(key)}")
    assert "\n" not in str(error)


def test_the_source_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal_of({"mqks": "x"}, {"PENSTOCK_MQKS": "y"}).source == "flag --mqks"
    assert refusal_of({}, {"PENSTOCK_MQKS": "y"}).source == "environment PENSTOCK_MQKS"
    assert refusal_of({"queue_bytes_max": "x"}).source == "flag --queue-bytes-max"
    file.write_text("mqks = 70000\n")
    monkeypatch.chdir(file.parent)
    error = refusal_of({}, {}, Path("penstock.toml"))
    assert (error.key, error.value, error.source) == ("mqks", 70000, "file penstock.toml")
    assert str(error).startswith("file penstock.toml: mqks = 70000: is not a port")


def test_a_bad_value_that_is_overruled_does_no_harm(file: Path) -> None:
    file.write_text("mqks = 70000\n")
    assert load({"mqks": "1"}, {"PENSTOCK_MQKS": "y"}, file).mqks == 1


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("line_size = 1", "line_size", "is not a setting; did you mean line_size_max?"),
        ("flux = 1", "flux", "is not a setting"),
        ("[server]\nmqks = 1", "server", "is not a setting"),
        ("mqks = [1]", "mqks", "is not a port"),
        ("[mqks]\nport = 1", "mqks", "is not a port"),
        ("mqks = ", "config", "is not TOML"),
        ("mqks = 1\nmqks = 2", "config", "is not TOML"),
    ],
)
def test_bad_file(file: Path, text: str, key: str, reason: str) -> None:
    file.write_text(text)
    error = refusal_of({}, {}, file)
    assert error.key == key
    assert error.source == f"file {file}"
    assert reason in error.reason


def test_unreadable_file(file: Path) -> None:
    assert "No such file" in refusal_of({}, {}, file).reason
    assert "directory" in refusal_of({}, {}, file.parent).reason
    file.write_bytes(b"\xff\xfe")
    assert "is not TOML" in refusal_of({}, {}, file).reason


def test_data_and_memory_exclude_each_other(file: Path) -> None:
    error = refusal_of({"data": "d", "memory": True})
    assert (error.key, error.source) == ("memory", "flag --memory")
    file.write_text('data = "d"\nmemory = true\n')
    assert refusal_of({}, {}, file).source == f"file {file}"


def test_of_data_and_memory_the_stronger_source_wins() -> None:
    in_memory = load({"memory": True}, {"PENSTOCK_DATA": "d"})
    assert (in_memory.data, in_memory.memory) == (None, True)
    on_disk = load({"data": "d"}, {"PENSTOCK_MEMORY": "1"})
    assert (on_disk.data, on_disk.memory) == (Path("d"), False)
    assert load({"data": "d", "memory": False}).data == Path("d")


@pytest.mark.parametrize(
    ("key", "value", "needed"),
    [
        ("tls_key", "k", "tls_cert"),
        ("tls_ca", "a", "tls_cert"),
        ("tls_client", "required", "tls_ca"),
        ("any_tls", "both", "tls_cert"),
    ],
)
def test_what_says_nothing_about_tls_without_another_setting_is_told(key: str, value: str, needed: str) -> None:
    error = refusal_of({key: value})
    assert (error.key, error.source) == (key, f"flag {flag_of(key)}")
    assert needed in error.reason


def test_frozen() -> None:
    with pytest.raises(ValidationError):
        load().mqks = 1


def test_describe() -> None:
    settings = {setting.key: setting for setting in load({"mqks": "off"}).describe()}
    assert list(settings) == Config.options()
    assert settings["mqks"][:4] == ("mqks", None, 54321, "PENSTOCK_MQKS")
    assert all(setting.help.endswith(".") for setting in settings.values())


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("mqks", None, "off"),
        ("data", None, "none"),
        ("memory", True, "true"),
        ("line_size_max", 48 << 20, "48MiB"),
        ("outbox_bytes_max", 1 << 30, "1GiB"),
        ("line_size_max", 1000, "1000"),
        ("queues_max", 1024, "1024"),
        ("data", Path("d"), "d"),
    ],
)
def test_text(key: str, value: object, text: str) -> None:
    assert text_of(key, value) == text


def test_text_of_every_default_reads_back() -> None:
    for setting in Config().describe():
        if setting.default is not None:
            given = load({setting.key: text_of(setting.key, setting.default)})
            assert getattr(given, setting.key) == setting.default


@pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.1/8", "127.0.0.1,,x"])
def test_a_proxy_is_an_address_or_a_network(text: str) -> None:
    with pytest.raises(ConfigError, match="is not an address or network"):
        load({"http_proxies": text})
