"""The command ``benchmark convert``: what a conversion costs, measured in a process of its own."""

import json
from pathlib import Path

from typer.testing import CliRunner

from cli.app import app


def test_the_cost_of_a_conversion_is_printed_and_written_with_its_protocol(tmp_path: Path) -> None:
    arguments = ["--megapixels", "0.06", "--method", "bilinear", "--json", str(tmp_path / "cost.json")]
    result = CliRunner().invoke(app, ["benchmark", "convert", *arguments])
    assert result.exit_code == 0, result.stderr
    written = json.loads((tmp_path / "cost.json").read_text())
    cost = written["cost"]
    assert cost["size"] == [200, 300]
    assert list(cost["seconds"]) == ["decode", "demosaic", "render", "write"]
    assert 50e6 < cost["peak_bytes"] < 2e9
    assert cost["ratio"] == cost["around_engine"] / cost["decoders_own"] > 0
    assert f"peak memory        {cost['peak_bytes'] / 2**30:.2f} GiB" in result.stdout
    for name, text in written["protocol"].items():
        assert f"{name}: {text}" in result.stdout
