"""`arena` and `python -m arena`: imports nothing before it can answer Ctrl-C."""

from __future__ import annotations

import signal


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        from arena.cli import run

        return run()
    except KeyboardInterrupt:
        return 130
    finally:  # a Ctrl-C while the process ends would only change its exit code
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    raise SystemExit(main())
