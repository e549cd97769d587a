"""The dependency direction of ARCHITECTURE.md, held over every import statement."""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Folders from compilation and the mathematics up to the pages; those of one row know nothing of each other.
ROWS = (
    ("jit",),
    ("ntc",),
    ("engine",),
    ("demosaicing", "inpainting"),
    ("detection",),
    ("io",),
    ("images",),
    ("raw",),
    ("lens",),
    ("developing",),
    ("workflows",),
    ("batch", "viewer"),
    ("studio",),
)
RANK = {folder: rank for rank, row in enumerate(ROWS) for folder in row}


def imports_of(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names += [node.module or ""] + [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def modules_of(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"no modules under {folder}"
    return found


@pytest.mark.parametrize("layer", RANK)
def test_layers_import_only_downwards(layer: str) -> None:
    for path in modules_of(f"demosaic_ntc/{layer}"):
        for name in imports_of(path):
            parts = name.split(".")
            assert parts[0] not in ("cli", "evaluation"), f"{path} imports {name}"
            if parts[0] == "demosaic_ntc" and len(parts) > 1 and parts[1] in RANK:
                assert parts[1] == layer or RANK[parts[1]] < RANK[layer], f"{path} imports {name}"


def test_only_the_kernels_are_compiled() -> None:
    for path in modules_of("demosaic_ntc"):
        if "kernels" in str(path.relative_to(ROOT)) or path.parent.name == "jit":
            continue
        compiled = [name for name in imports_of(path) if name.split(".")[0] == "numba"]
        wrapped = [name for name in imports_of(path) if name.startswith("demosaic_ntc.jit.compiled.")]
        assert not compiled + wrapped, f"{path} compiles"


def test_mathematics_knows_no_images_and_no_files() -> None:
    banned = {"skimage", "imageio", "rawpy", "tifffile", "PIL", "cv2", "pathlib", "os", "typer", "rich"}
    for path in modules_of("demosaic_ntc/ntc"):
        assert not banned & {name.split(".")[0] for name in imports_of(path)}, path


def test_nothing_below_the_command_line_prints() -> None:
    for path in modules_of("demosaic_ntc"):
        calls = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        ]
        assert not calls, path


# Where each foreign library may be reached: what it raises is made ours there.
BORDERS = {
    "PIL": {
        "developing/framing.py",
        "developing/dng_writing.py",
        "images/lossy.py",
        "images/pillow.py",
        "raw/preview.py",
        "engine/notebook_preview.py",
        "studio/canvas/tile_images.py",
        "viewer/pictures.py",
    },
    "tifffile": {"raw/dng/linear_reading.py", "images/tiff_reading.py", "raw/plain.py"},
    "rawpy": {"raw/libraw.py"},
    "lensfunpy": {"lens/lensfun.py"},
    "astropy": {"images/fits_writing.py", "raw/fits.py"},
    "imagecodecs": {"developing/dng_writing.py", "images/lossy.py", "images/png_reading.py"},
    "simplejpeg": {"images/jpeg.py"},
    "psutil": {"machine.py"},
    "watchfiles": {"batch/watch.py"},
    "distributed": {"batch/workers/cluster.py"},
    "fsspec": {"io/remote.py"},
    "starlette": {f"studio/serving/{name}.py" for name in ("handlers", "launch", "security", "server")},
    "uvicorn": {"studio/serving/launch.py"},
}


@pytest.mark.parametrize("library", BORDERS)
def test_foreign_libraries_are_reached_at_their_borders(library: str) -> None:
    modules = modules_of("demosaic_ntc") + modules_of("cli")
    users = {path for path in modules if library in {name.split(".")[0] for name in imports_of(path)}}
    borders = {ROOT / "demosaic_ntc" / name for name in BORDERS[library]}
    assert users - {ROOT / "cli" / "commands" / "demo.py"} == borders


def test_each_room_is_seen_at_a_glance() -> None:
    modules = [path for folder in ("demosaic_ntc", "cli", "evaluation") for path in modules_of(folder)]
    rooms = Counter(str(path.parent.relative_to(ROOT)) for path in modules)
    assert len(rooms) > 20
    assert not {room: count for room, count in rooms.items() if count > 20}
