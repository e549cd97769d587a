import re
from pathlib import Path

from PIL import Image
from typer.testing import CliRunner

from cli.app import app


def test_the_demo_makes_a_picture_and_compares_it_with_the_truth(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", str(tmp_path / "a.png"), "--method", "malvar"])
    assert result.exit_code == 0, result.stderr
    found = re.search(r"PSNR +(\S+) dB against scene.png \(bilinear: (\S+) dB\)", result.stdout)
    assert found is not None
    assert float(found[1]) > float(found[2]) + 3
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (256, 192)


def test_the_tensor_demo_says_what_it_completed_and_what_is_proven() -> None:
    result = CliRunner().invoke(app, ["demo", "--tensor", "--size", "6", "--samples", "150"])
    assert result.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert list(lines) == ["tensor", "samples", "status", "objective", "NMSE", "time"]
    assert lines["tensor"].startswith("6 × 6 × 6,")
    assert lines["status"].startswith("OPTIMAL")
    error = re.match(r"(\S+) over the whole tensor", lines["NMSE"])
    assert error is not None
    assert float(error[1]) < 0.2


def test_a_demo_without_samples_is_wrong_usage() -> None:
    assert CliRunner().invoke(app, ["demo", "--tensor", "--samples", "0"]).exit_code == 2
