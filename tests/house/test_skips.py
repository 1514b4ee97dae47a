"""The rule of tests/conftest.py, by running pytest with it on a planted test file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MARKED = "import pytest\n@pytest.mark.skip(reason='no such tool')\ndef test_it(): pass\n"
CALLED = "import pytest\ndef test_it(): pytest.skip('no such tool')\n"
WHOLE_MODULE = "import pytest\npytest.skip('no such tool', allow_module_level=True)\n"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False\n"


def run(folder: Path, source: str, ci: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFTEST, folder / "conftest.py")
    (folder / "test_planted.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\n")
    env = {**os.environ, "CI": ci}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-ra"]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("source", [MARKED, CALLED, WHOLE_MODULE])
def test_a_skip_fails_in_ci_and_says_why(tmp_path: Path, source: str) -> None:
    done = run(tmp_path, source, ci="true")
    assert done.returncode in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED), done.stdout
    assert "under CI=true nothing is skipped" in done.stdout
    assert "no such tool" in done.stdout


@pytest.mark.parametrize("source", [MARKED, CALLED])
def test_a_skip_stays_a_skip_elsewhere(tmp_path: Path, source: str) -> None:
    done = run(tmp_path, source, ci="")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "1 skipped" in done.stdout


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    done = run(tmp_path, EXPECTED_FAILURE, ci="true")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "1 xfailed" in done.stdout
