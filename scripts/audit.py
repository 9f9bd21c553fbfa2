"""`python -m scripts.audit`: checks the locked dependencies for known vulnerabilities with pip-audit. In `make lint`.

A known vulnerability fails. When the service cannot be reached (no network, down or slow), the result is unknown and a
prominent warning is printed, but lint does not fail: it must not depend on somebody else's server.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path("requirements/dev.txt")  # includes everything the server needs
SECONDS = 20.0


def main() -> int:
    found = ask()
    if found is None:
        return unknown("the service that knows of weaknesses does not answer")
    asked = [each for each in found if "skip_reason" not in each]
    weak = [each for each in asked if each["vulns"]]
    for each in weak:
        for weakness in each["vulns"]:
            fixed = ", ".join(weakness["fix_versions"]) or "none yet"
            print(f"{each['name']} {each['version']}: {weakness['id']}, fixed in {fixed}", file=sys.stderr)
    if weak:
        print("take a fixed version: scripts/lock --upgrade-package NAME", file=sys.stderr)
        return 1
    if not asked:
        return unknown("the package index says nothing of weaknesses")
    left_out = f"; nothing is known of {len(found) - len(asked)}" if len(asked) < len(found) else ""
    print(f"audit: no known weakness in {len(asked)} dependencies{left_out}")
    return 0


def ask() -> list[dict[str, Any]] | None:
    """Each dependency with its known vulnerabilities; None when the service does not answer."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--requirement", str(LOCK), "--require-hashes", "--disable-pip", "--format", "json", "--timeout", "5"]
    try:
        done = subprocess.run(
            [program, *options, "--progress-spinner", "off"], capture_output=True, text=True, timeout=SECONDS
        )
        return list(json.loads(done.stdout)["dependencies"])
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return None


def unknown(reason: str) -> int:
    print(f"AUDIT NOT DONE: {reason}. Run `make lint` where it can be reached.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
