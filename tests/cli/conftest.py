import pytest

from evaluation.commands.running import THREAD_VARIABLES


@pytest.fixture
def thread_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a benchmark tells the libraries of this process ends with the test."""
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
