"""Generates the Python code of every .proto beside this file: `generate.py OUT` replaces OUT/arena/sixtysix.

The output depends on the .proto files and the pinned tools only (`make proto` runs it in their environment),
and appears whole or not at all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
PACKAGE = Path("arena", "sixtysix")
MARK = '"""Generated from proto/ by `make proto`: do not edit."""\n'


def generate(out: Path) -> int:
    """Write the generated package below the folder `out`; returns protoc's exit status (0 = written)."""
    protos = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.proto"))
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    with tempfile.TemporaryDirectory() as fresh:
        outputs = [f"--{kind}_out={fresh}" for kind in ("python", "pyi", "grpc_python")]
        outputs.append(f"--mypy_grpc_out=quiet:{fresh}")
        # Relative names without "./": protoc takes them as they are for the names of the modules.
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{SOURCES}", *outputs, *protos]
        status = subprocess.run(command, env={**os.environ, "PATH": tools}, check=False).returncode
        if status:
            return status
        package = Path(fresh) / PACKAGE
        for folder in sorted({package, *(path.parent for path in package.rglob("*.py"))}):
            (folder / "__init__.py").write_text(MARK, encoding="utf-8")
        shutil.rmtree(out / PACKAGE, ignore_errors=True)
        shutil.copytree(package, out / PACKAGE)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: generate.py OUT")
    sys.exit(generate(Path(sys.argv[1])))
