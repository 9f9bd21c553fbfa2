"""Exit codes: one table for `penstock --help`, for docs/cli.md and for the code."""

from penstock.errors import Error

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2  # also used by Click for a wrong option
EXIT_UNREACHABLE = 3
EXIT_NOTHING = 4
EXIT_DENIED = 5
EXIT_FAULT = 70
EXIT_DISK = 74
EXIT_INTERRUPTED = 130

EXITS = {
    EXIT_DONE: "success; also Ctrl-C in commands that run until interrupted (consume, tap, top)",
    EXIT_FAILED: "the command failed or was refused; log verify, doctor: a problem was found",
    EXIT_USAGE: "invalid command line or setting",
    EXIT_UNREACHABLE: "cannot connect to the broker, or the connection was lost",
    EXIT_NOTHING: "no message or no reply within the timeout",
    EXIT_DENIED: "authentication failed, or permission denied",
    EXIT_FAULT: "serve: internal error; the log is intact, restart the broker",
    EXIT_DISK: "serve: disk failure",
    EXIT_INTERRUPTED: "interrupted before completion",
}


class Failed(Error):
    """A command fails: the reason, in one line, and the exit code."""

    def __init__(self, reason: str, code: int = EXIT_FAILED) -> None:
        super().__init__(reason)
        self.code = code


class UsageError(Failed):
    """The command line is invalid."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, EXIT_USAGE)
