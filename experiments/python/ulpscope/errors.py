"""What is raised, by the program's exit statuses. Each has one line: what was found, what was expected."""


class Error(Exception):
    """What went wrong, in one line."""
    status = 1
    output = ""  #: what the program printed before it failed


class UsageError(Error, ValueError):
    """An unknown name, option, value or format."""
    status = 2


class DataError(Error):
    """Unreadable or malformed input; a function that failed."""
    status = 3


class DeviceError(Error, RuntimeError):
    """A device that is not there, or no more memory."""
    status = 4


class BrokenPromise(Error, AssertionError):
    """A promise that is not kept, or was not tried."""

    def __init__(self, text: str, verdict: object = None):
        super().__init__(text)
        self.verdict = verdict  #: a Verdict


BY_STATUS = {kind.status: kind for kind in (Error, UsageError, DataError, DeviceError)}


def error_of(status: int, line: str) -> Error:
    return BY_STATUS.get(status, Error)(line)
