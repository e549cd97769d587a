"""XMP of raws: what is true of the photo goes with its pictures, nothing else, and no packet does harm."""

import struct
from pathlib import Path

import pytest
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.io.header import read_header
from demosaic_ntc.io.tiff_tags import BYTE, XMP, Field, TagReader
from demosaic_ntc.io.xmp import clean_xmp
from demosaic_ntc.raw.containers import read_raw_xmp
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

NAME = b"http://ns.adobe.com/xap/1.0/\0"

PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:drone="http://www.dji.com/drone-dji/1.0/"
 xmp:Rating="4" xmp:ModifyDate="2016-01-01" tiff:Orientation="6" tiff:Artist="Zoë" exif:PixelXDimension="6000"
 exif:GPSLatitude="48,12.5N" crs:Exposure2012="+1.00" drone:GimbalYawDegree="+12.5" dc:format="image/dng">
<dc:subject><rdf:Bag><rdf:li>alps</rdf:li><rdf:li>snow &amp; ice</rdf:li></rdf:Bag></dc:subject>
<crs:ToneCurve><rdf:Seq><rdf:li>0, 0</rdf:li></rdf:Seq></crs:ToneCurve>
</rdf:Description></rdf:RDF></x:xmpmeta>
  <?xpacket end="w"?>""".encode()

KEPT = (
    'xmp:Rating="4"',
    'tiff:Artist="Zoë"',
    "48,12.5N",
    "GimbalYawDegree",
    "<rdf:li>snow &amp; ice</rdf:li>",
)
DROPPED = ("ModifyDate", "Orientation", "PixelXDimension", "Exposure2012", "ToneCurve", "image/dng")


def _described(properties: str) -> bytes:
    """A packet of these properties."""
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f"<rdf:Description {properties}/></rdf:RDF></x:xmpmeta>"
    ).encode()


RATING = 'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="1"'


def test_what_is_true_of_the_photo_stays_and_the_rest_goes() -> None:
    kept = (clean_xmp(PACKET) or b"").decode()
    assert [word for word in KEPT if word not in kept] == []
    assert [word for word in DROPPED if word in kept] == []
    assert kept.startswith('<?xpacket begin="\ufeff"')
    assert clean_xmp(kept.encode()) == kept.encode()


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\0" * 40,
        b"<x:xmpmeta",
        PACKET[:400],
        PACKET.decode().encode("utf-16"),
        PACKET.replace(b"alps", b"\xff\xfe"),
        b'<!DOCTYPE a [<!ENTITY b "c">]>' + _described(RATING),
        _described(RATING) + b" " * (1 << 20),
        b"<a>" * 20000 + b"</a>" * 20000,
        b"<a/>",
        _described(""),
        _described('xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"'),
    ],
)
def test_packets_that_say_nothing_or_cannot_be_read_are_dropped(packet: bytes) -> None:
    assert clean_xmp(packet) is None


def test_deep_packets_do_no_harm() -> None:
    deep = PACKET.replace(b"<rdf:li>alps</rdf:li>", b"<a>" * 5000 + b"</a>" * 5000)
    assert clean_xmp(deep) is None


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DNG with a packet."""
    path, cfa = tmp_path_factory.mktemp("xmp") / "a.dng", Cfa.from_name("RGGB")
    light = light_of(rounded(scene(36, 48)))
    tag = {XMP: Field(BYTE, PACKET)}
    write_dng(path, exposed(light, cfa, Camera()), cfa, Camera(), changed=tag)
    return path


def _stored(path: Path) -> bytes | None:
    """The packet of a written picture, found as other programs do."""
    if path.suffix in (".tif", ".dng"):
        with path.open("rb") as file:
            stored = TagReader(file).first().get(XMP)
        return bytes(int(each) for each in stored) if stored else None
    if path.suffix == ".jxl":
        data = path.read_bytes()
        place = data.find(b"xml ")
        return (
            data[place + 4 : place - 4 + struct.unpack_from(">L", data, place - 4)[0]] if place > 0 else None
        )
    with Image.open(path) as picture:
        found = picture.info.get("xmp", picture.info.get("XML:com.adobe.xmp"))
    return found.encode() if isinstance(found, str) else found


@pytest.mark.parametrize("suffix", ["png", "tif", "jpg", "webp", "avif", "jxl", "dng"])
def test_every_format_carries_it_unless_metadata_is_refused(
    described: Path, tmp_path: Path, suffix: str
) -> None:
    target, engine = tmp_path / f"a.{suffix}", Engine(method="bilinear")
    how = Development(look="neutral")
    convert_file(described, target, Settings(development=how, engine=engine))
    assert _stored(target) == (PACKET if suffix == "dng" else clean_xmp(PACKET))
    without = Settings(development=how, engine=engine, output=Output(metadata=False, overwrite=True))
    convert_file(described, target, without)
    assert _stored(target) is None


def test_a_packet_too_long_for_jpeg_is_left_out_there(described: Path, tmp_path: Path) -> None:
    path, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    photo = read_photo(described)
    long = PACKET.replace(b"alps", b"a" * 70000)
    write_dng(path, photo.mosaic, cfa, Camera(), changed={XMP: Field(BYTE, long)})
    for suffix, found in (("jpg", None), ("png", clean_xmp(long))):
        convert_file(path, tmp_path / f"a.{suffix}", Settings(engine=Engine(method="bilinear")))
        assert _stored(tmp_path / f"a.{suffix}") == found


def _box(kind: bytes, content: bytes) -> bytes:
    """A box of the ISO base media file format."""
    return struct.pack(">L4s", len(content) + 8, kind) + content


def test_packets_of_cr3_and_raf_are_found(tmp_path: Path) -> None:
    uuid = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
    cr3 = (
        _box(b"ftyp", b"crx \0\0\0\1")
        + _box(b"moov", b"")
        + _box(b"uuid", uuid + PACKET)
        + _box(b"mdat", b"")
    )
    segment = struct.pack(">BBH", 0xFF, 0xE1, len(NAME) + len(PACKET) + 2) + NAME + PACKET
    jpeg = b"\xff\xd8" + segment + b"\xff\xd9" + bytes(100)
    raf = b"FUJIFILMCCD-RAW ".ljust(84, b"\0") + struct.pack(">LL", 160, len(jpeg))
    for content in (cr3, raf.ljust(160, b"\0") + jpeg):
        (tmp_path / "a").write_bytes(content)
        with (tmp_path / "a").open("rb") as file:
            assert read_raw_xmp(read_header(file)) == PACKET


@pytest.mark.parametrize("content", [b"", b"II*\0\x08\0\0\0", b"FUJIFILMCCD-RAW ", b"\0\0\0\x10ftypcrx "])
def test_files_without_a_packet_have_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with (tmp_path / "a").open("rb") as file:
        assert read_raw_xmp(read_header(file)) is None
