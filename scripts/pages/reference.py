"""The pages of docs/reference: settings, metrics and the HTTP API, as a broker of this version has them."""

import json
import re
import tempfile
import urllib.request
from collections.abc import Iterator
from typing import Any

from penstock.config import Config, PolicyTable, env_of, flag_of, text_of
from penstock.testing import Broker

MADE = "<!-- written by `make pages`: change the code, not this page -->\n"
METHODS = ("get", "put", "post", "delete")
HELP = re.compile(r"# HELP (\S+) (.*)\n# TYPE \S+ (\w+)\n((?:[^#].*\n)*)")


def pages() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as data, Broker(http=0, data=data, sync="off") as broker:

        def ask(path: str, method: str = "GET") -> str:
            request = urllib.request.Request(f"http://127.0.0.1:{broker.ports['http']}{path}", method=method)
            with urllib.request.urlopen(request, timeout=30) as answer:
                text: str = answer.read().decode()
                return text

        ask("/v1/queues/jobs", "PUT")

        return {
            "config.md": config_page(),
            "metrics.md": metrics_page(ask("/metrics"), ask("/metrics/detail?queue=jobs")),
            "api.md": api_page(json.loads(ask("/openapi.json"))),
        }


# -- settings ---------------------------------------------------------------------------------------------------------


def config_page() -> str:
    rows = [
        f"| `{each.key}` | `{flag_of(each.key)}` | {_cell(_default(each.key, each.default))} | {_cell(each.help)} |"
        for each in Config().describe()
    ]
    policy = ", ".join(f"`{name}`" for name in PolicyTable.model_fields)
    return f"""{MADE}
# Settings

You can set each setting as a key in the TOML file that `penstock serve --config FILE` reads, as a flag, or as an
environment variable: `mqks`, `{flag_of("mqks")}`, `{env_of("mqks")}`. Flags override the environment, which overrides
the file, which overrides the default. With an unknown key or an invalid value the broker does not start, and prints a
line that names it. `penstock config show` prints the effective settings. `penstock config check FILE` checks a file.

```toml
mqks = 54321
smqs = "off"
data = "/var/lib/penstock"
line_size_max = "1MiB"
```

A port is a number, `0` for any free port, or `off`. A size is a number of bytes, or a string such as `64MiB`
(1024-based) or `64MB` (1000-based). A count may be written as `10k`. Times are in seconds.

| key | flag | default | description |
|---|---|---|---|
{chr(10).join(rows)}

`[[policy]]` tables apply settings to queues by name. They can only be set in the file: {policy}.
See [Delivery](../delivery.md#policies).
"""


def _default(key: str, value: object) -> str:
    return f"`{text_of(key, value)}`" if value not in (None, "") else ""


# -- metrics ----------------------------------------------------------------------------------------------------------


def metrics_page(text: str, detail: str) -> str:
    rows = [
        f"| `{name}` | {kind} | {_labels(samples, kind)} | {_cell(help)} |"
        for name, help, kind, samples in families(text)
    ]
    queue_rows = [f"| `{name}` | {kind} | {_cell(help)} |" for name, help, kind, _ in families(detail)]
    return f"""{MADE}
# Metrics

`GET /metrics` returns the broker's totals in the Prometheus format. There is never one series per queue, so ten
thousand queues cost no more than ten. `GET /metrics/detail?queue=NAME` returns metrics of up to a hundred queues by
name. `deploy/prometheus/penstock.rules.yml` contains alerts on these metrics, and `deploy/grafana/penstock.json` a
dashboard.

| name | type | labels | description |
|---|---|---|---|
{chr(10).join(rows)}

## Metrics of one queue

| name | type | description |
|---|---|---|
{chr(10).join(queue_rows)}
"""


def families(text: str) -> list[tuple[str, str, str, str]]:
    return HELP.findall(text)


def _labels(samples: str, kind: str) -> str:
    found = dict.fromkeys(re.findall(r'[{,](\w+)="', samples))
    return ", ".join(f"`{name}`" for name in found if (name, kind) != ("le", "histogram"))


# -- HTTP -------------------------------------------------------------------------------------------------------------


API_HEAD = """A summary of what `GET /openapi.json` of a running broker describes. [HTTP](../http.md) explains the rules
and shows the responses.
"""


def api_page(document: dict[str, Any]) -> str:
    parts = [
        MADE,
        "# HTTP API\n",
        API_HEAD,
    ]
    tags: dict[str, list[str]] = {}
    for path, method, operation in operations(document):
        tags.setdefault((operation.get("tags") or ["more"])[0], []).append(_operation(path, method, operation))
    for tag, entries in tags.items():
        parts.append(f"## {tag.capitalize()}\n")
        parts += entries
    return "\n".join(parts)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    lines = [f"### `{method.upper()} {path}`\n", _sentence(operation.get("summary", ""))]
    if operation.get("description"):
        lines.append("\n" + " ".join(operation["description"].split()))
    if parameters := operation.get("parameters"):
        lines.append("\n| parameter | in | type | description |\n|---|---|---|---|")
        lines += [_parameter(each) for each in parameters]
    if content := operation.get("requestBody", {}).get("content"):
        lines.append(f"\nRequest body: {', '.join(f'`{kind}`' for kind in content)}.")
    if needs := operation.get("x-penstock-needs"):
        lines.append(f"\nRequires {_cell(needs)}.")
    codes = ", ".join(f"{code}: {answer['description'].rstrip('.')}" for code, answer in operation["responses"].items())
    lines.append(f"\nResponses: {_cell(codes)}.\n")
    return "\n".join(lines)


def _parameter(each: dict[str, Any]) -> str:
    name = f"`{each['name']}`" + (" (required)" if each.get("required") else "")
    return f"| {name} | {each['in']} | {_type(each['schema'])} | {_cell(each.get('description', ''))} |"


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    bounds = [f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
    return " ".join([str(schema.get("type", "")), *bounds]).strip()


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
