"""How commands exit: one table for `penstock --help`, for docs/cli.md and for the code."""

from penstock.errors import Error

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_MISUSED = 2  # what a wrong option gives, too
EXIT_UNREACHABLE = 3
EXIT_NOTHING = 4
EXIT_DENIED = 5
EXIT_FAULT = 70
EXIT_DISK = 74
EXIT_INTERRUPTED = 130

EXITS = {
    EXIT_DONE: "done; also what ends by Ctrl-C because it has no other end (consume, tap, top)",
    EXIT_FAILED: "it was refused or went wrong; log verify, doctor: something is not in order",
    EXIT_MISUSED: "the command line or a setting is wrong",
    EXIT_UNREACHABLE: "no broker answers there, or it went away",
    EXIT_NOTHING: "there was no message or no reply in time",
    EXIT_DENIED: "not allowed: the broker does not let this client in, or its user has no right to that",
    EXIT_FAULT: "serve: an error inside the broker; the log is whole, start it again",
    EXIT_DISK: "serve: the disk failed",
    EXIT_INTERRUPTED: "interrupted before it was done",
}


class Failed(Error):
    """Why a command ends, in one line, and how."""

    def __init__(self, reason: str, code: int = EXIT_FAILED) -> None:
        super().__init__(reason)
        self.code = code


class Misused(Failed):
    """The command line makes no sense."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, EXIT_MISUSED)
