"""What tells an object in storage from a changed one."""

import pytest

from demosaic_ntc.batch.job import Identity
from demosaic_ntc.batch.records.identity import is_unchanged
from demosaic_ntc.io.remote import RemotePath, RemoteStatus

KNOWN, UNTAGGED = Identity(5, 7, "same", "tag"), Identity(5, 7, "same")

CASES = [
    (RemoteStatus(5, 9, "tag"), KNOWN, True, False),
    (RemoteStatus(5, 7, "other"), KNOWN, False, True),
    (RemoteStatus(6, 7, "tag"), KNOWN, False, False),
    (RemoteStatus(5, 7, ""), KNOWN, False, False),
    (RemoteStatus(5, 9, ""), KNOWN, False, True),
    (RemoteStatus(5, 7, ""), KNOWN, True, True),
    (RemoteStatus(5, 7, "tag"), UNTAGGED, True, True),
]


@pytest.mark.parametrize(("now", "known", "proven", "is_read"), CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("content", ["same", "changed"])
def test_objects_are_read_only_where_nothing_else_tells(
    now: RemoteStatus,
    known: Identity,
    proven: bool,
    is_read: bool,
    content: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[RemotePath] = []

    def read(address: RemotePath) -> str:
        reads.append(address)
        return content

    monkeypatch.setattr(RemotePath, "sha256", read)
    address = RemotePath("s3", "bucket/a", listed=now)
    is_same = content == "same" if is_read else now.st_size == known.bytes
    assert is_unchanged(address, known, proven=proven) == is_same
    assert bool(reads) == is_read
