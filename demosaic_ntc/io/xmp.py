"""XMP packets: what a raw's says of the photo goes with its pictures, without what describes the raw file.

Packets as in ISO 16684-1, part of which are the names of properties. They come from files of any origin: one
that is too large, declares entities, or cannot be read is dropped.
"""

from collections.abc import Iterator
from contextlib import suppress
from xml.dom import minidom
from xml.parsers.expat import ExpatError

_LARGEST = 1 << 20  # bytes
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_DECLARATIONS = "http://www.w3.org/2000/xmlns/"
_HEADER = b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>'
_TRAILER = b'<?xpacket end="w"?>'

# Of these namespaces nothing is true of a finished picture: settings of raw converters, histories and numbers
# of documents, regions and panoramas in other pixels, and further pictures that are not carried over.
_DROPPED = (
    "http://ns.adobe.com/camera-raw-",
    "http://ns.adobe.com/xap/1.0/mm/",
    "http://ns.adobe.com/xmp/note/",
    "http://ns.adobe.com/hdr-gain-map/",
    "http://ns.apple.com/",
    "http://ns.google.com/photos/1.0/",
    "http://darktable.sf.net/",
    "http://www.rawtherapee.com/",
    "http://www.metadataworkinggroup.com/schemas/regions/",
    "http://ns.microsoft.com/photo/1.2/",
)

# Of TIFF's properties these are the photo's; of other namespaces all but these.
_TIFF = "http://ns.adobe.com/tiff/1.0/"
_OF_THE_PHOTO = {"Make", "Model", "Artist", "Copyright", "ImageDescription"}
_OF_THE_FILE = {
    "http://ns.adobe.com/exif/1.0/": {
        *("PixelXDimension", "PixelYDimension", "ColorSpace", "Gamma", "CFAPattern", "NativeDigest"),
        *(
            "ComponentsConfiguration",
            "CompressedBitsPerPixel",
            "ExifVersion",
            "FlashpixVersion",
            "WhiteBalance",
        ),
        *("UserComment", "MakerNote", "ImageUniqueID"),
    },
    "http://ns.adobe.com/xap/1.0/": {"CreatorTool", "ModifyDate", "MetadataDate", "Thumbnails"},
    "http://ns.adobe.com/photoshop/1.0/": {
        *("ICCProfile", "ColorMode", "SidecarForExtension", "History", "DocumentAncestors", "TextLayers"),
        *("EmbeddedXMPDigest", "LegacyIPTCDigest"),
    },
    "http://purl.org/dc/elements/1.1/": {"format"},
}


def clean_xmp(packet: bytes) -> bytes | None:
    """The packet with what is true of a finished picture; None where that is nothing."""
    with suppress(ExpatError, ValueError, RecursionError, LookupError):
        document = _parse(packet)
        root = document and document.documentElement
        if document and root and _keep_true(document):
            return _HEADER + root.toxml().encode() + _TRAILER
    return None


def is_readable_xmp(packet: bytes) -> bool:
    """Whether a packet may go on as it is, into a file that is as raw as the one it was found in."""
    with suppress(ExpatError, ValueError, RecursionError, LookupError):
        return _parse(packet) is not None
    return False


def _parse(packet: bytes) -> minidom.Document | None:
    """The document of a packet; None where it is too large or declares what XMP has no use for."""
    text = packet[: _LARGEST + 1].strip(b"\0 \t\r\n").decode("utf-8-sig")
    if len(packet) > _LARGEST or "<!DOCTYPE" in text or "<!ENTITY" in text:
        return None
    return minidom.parseString(text.encode())


def _keep_true(document: minidom.Document) -> bool:
    """Remove what is not true of a finished picture, and say whether a property is left."""
    left = False
    for description in _descriptions(document):
        for name in _properties(description):
            if _stays(name.namespaceURI, name.localName):
                left = True
            elif isinstance(name, minidom.Attr):
                description.removeAttributeNode(name)
            else:
                description.removeChild(name)
    return left


def _descriptions(document: minidom.Document) -> list[minidom.Element]:
    """The elements whose attributes and children are properties of the photo."""
    found = document.getElementsByTagNameNS(_RDF, "Description")
    return [each for each in found if getattr(each.parentNode, "localName", "") == "RDF"]


def _properties(description: minidom.Element) -> list[minidom.Attr | minidom.Element]:
    """The properties of a description, short ones as attributes and others as elements."""
    return [*_attributes(description), *_elements(description)]


def _attributes(description: minidom.Element) -> Iterator[minidom.Attr]:
    """The attributes that are properties."""
    for attribute in list(description.attributes.values()):
        if attribute.namespaceURI not in (_RDF, _DECLARATIONS, None):
            yield attribute


def _elements(description: minidom.Element) -> Iterator[minidom.Element]:
    """The elements that are properties."""
    for child in list(description.childNodes):
        if isinstance(child, minidom.Element):
            yield child


def _stays(space: str | None, name: str | None) -> bool:
    """Whether a property of a namespace is true of a finished picture."""
    if not space or not name or space.startswith(_DROPPED):
        return False
    return name in _OF_THE_PHOTO if space == _TIFF else name not in _OF_THE_FILE.get(space, ())
