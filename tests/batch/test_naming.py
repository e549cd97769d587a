"""Names of results: made of the input's own, of its header and of its number; nothing else passes."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.batch.naming import Naming, tell_apart
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.exif import MODEL, Exif, photo_fields
from demosaic_ntc.io.tiff_tags import ASCII, Field
from samples.dng import Camera, exposed, write_dng


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    taken = datetime(2024, 5, 6, 7, 8, 9)
    fields = photo_fields(
        iso=400, exposure=0.01, aperture=2.8, focal_length=50, taken=taken, lens_model="50/1.8: new"
    )
    cfa, model = Cfa.from_name("RGGB"), {MODEL: Field(ASCII, b"Box 1\0")}
    mosaic = exposed(np.full((8, 8, 3), 0.3), cfa, Camera())
    write_dng(tmp_path / "IMG_1.dng", mosaic, cfa, Camera(), exif=Exif(photo=fields), changed=model)
    return tmp_path / "IMG_1.dng"


def test_structure_of_folders_is_kept(tmp_path: Path) -> None:
    naming = Naming(tmp_path, ".png")
    assert naming.target(Path("/in/sub/a.dng"), Path("sub")) == tmp_path / "sub" / "a.png"


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{stem}", "a.b.png"),
        ("{stem}_{ext}", "a.b_dng.png"),
        ("{parent}-{stem}", "day-a.b.png"),
        ("{counter}", "7.png"),
        ("shoot{counter:04}", "shoot0007.png"),
        ("{stem}{{x}}", "a.b{x}.png"),
    ],
)
def test_names_are_made_of_their_parts(template: str, name: str) -> None:
    assert Naming(Path("/out"), ".png", template).target(Path("/day/a.b.dng"), number=7).name == name


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{date:%Y%m%d_%H%M}-{stem}", "20240506_0708-IMG_1.png"),
        ("{date}_{counter:03}", "2024-05-06_001.png"),
        ("{stem} {iso} {lens}", "IMG_1 400 50_1.8_ new.png"),
        ("{camera}-{stem}", "Box 1-IMG_1.png"),
    ],
)
def test_headers_give_names(photo: Path, template: str, name: str) -> None:
    assert Naming(Path("/out"), ".png", template).target(photo).name == name


def test_what_is_not_known_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "a.dng").write_bytes(b"no raw at all")
    target = Naming(Path("/out"), ".png", "{date}-{camera}-{iso}-{stem}").target(tmp_path / "a.dng")
    assert target.name == "unknown-unknown-unknown-a.png"


@pytest.mark.parametrize(
    "template",
    [
        *("", "fixed", "{stem", "{nonsense}{stem}", "sub/{stem}", "{stem.real}", "{stem}{}", "{date}"),
        *("{stem:d}", "{stem!x}", "{stem:>99999999}", "{counter:999999999}", "{counter:d}", "{iso:04}{stem}"),
        *("{date:%c%/}{stem}", "{stem}{date:" + "%Y" * 50 + "}", "{stem}{date:/}", "{counter!r}"),
    ],
)
def test_templates_that_make_no_names_are_refused(template: str) -> None:
    with pytest.raises(InputError):
        Naming(Path(), ".png", template)


def _told_apart(*names: str) -> list[str]:
    sources = [Path("/in") / name for name in names]
    return [path.name for path in tell_apart([(s, Path("/out") / f"{s.stem}.png") for s in sources])]


def test_extensions_are_added_where_inputs_would_have_one_result() -> None:
    assert _told_apart("a.CR2", "b.CR2", "a.CR3") == ["a_CR2.png", "b.png", "a_CR3.png"]
    assert _told_apart("a.v1.cr2", "a.v1.dng", "a.v2.dng") == ["a.v1_cr2.png", "a.v1_dng.png", "a.v2.png"]
    assert _told_apart("a", "a.dng") == ["a.png", "a_dng.png"]


def test_inputs_of_one_extension_are_not_told_apart_by_it() -> None:
    assert _told_apart("1/a.dng", "2/a.dng", "a.cr2") == ["a.png"] * 3
    assert _told_apart("a.CR2", "a.cr2") == ["a.png"] * 2, "some file systems would not, either"
    assert _told_apart("a.dng", "a.dng") == ["a.png"] * 2
