"""Files that the user asked for: whole or not there at all, and never in the place of what is no file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from arena.errors import UsageError


@contextlib.contextmanager
def whole_file(file: Path, *, make_folder: bool = False) -> Iterator[TextIO]:
    """Write a file, which is there under its name once all of it is on disk; what was there before stays until then.

    A device, a pipe, or what a link points at (`/dev/stdout`) is written to as it is.  The folder is made only if that
    is wanted.  Raises `UsageError`: it cannot be written.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder; choose another --output")
    through = file.is_symlink() or (file.exists() and not file.is_file())
    target = file if through else file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        if make_folder:
            file.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            if not through:
                os.fsync(stream.fileno())
        if not through:
            target.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; choose another --output") from None
    finally:
        if not through:
            with contextlib.suppress(OSError):  # it was moved or never made, or the disk takes no change at all
                target.unlink()
