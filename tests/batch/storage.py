"""A real server of object storage on this machine (moto), which a test can let refuse requests."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import SHUT_RDWR
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest

BUCKET = "bucket"

# What a storage is asked: a method and a path; how it answers instead of as it should, if it does.
Rule = Callable[[str, str], str | None]

_ERROR = "<?xml version='1.0'?><Error><Code>{0}</Code><Message>{0}</Message></Error>"
_STATUS = {"AccessDenied": "403 Forbidden", "InternalError": "500 Internal Server Error"}


@dataclass
class Storage:
    """A server, what it holds, and what it refuses."""

    address: str
    files: Any  # of fsspec
    rule: Rule | None = None

    def put(self, name: str, content: bytes) -> str:
        """Put an object into the bucket; return its address."""
        self.files.pipe_file(f"{BUCKET}/{name}", content)
        return f"s3://{BUCKET}/{name}"

    def read(self, name: str) -> bytes:
        """What an object of the bucket holds."""
        return bytes(self.files.cat_file(f"{BUCKET}/{name}"))

    def names(self, folder: str = "") -> list[str]:
        """The names of all objects below a folder of the bucket."""
        self.files.invalidate_cache()
        top = f"{BUCKET}/{folder}".rstrip("/")
        return sorted(name[len(BUCKET) + 1 :] for name in self.files.find(top))

    def answer(self, app: Any, request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer as the server does, or as the rule says; `cut` breaks the connection off."""
        wish = self.rule and self.rule(request["REQUEST_METHOD"], request["PATH_INFO"])
        if wish == "cut":
            request["werkzeug.socket"].shutdown(SHUT_RDWR)
            raise ConnectionResetError
        if wish:
            request["wsgi.input"].read(int(request.get("CONTENT_LENGTH") or 0))
            start(_STATUS[wish], [("Content-Type", "application/xml")])
            return [_ERROR.format(wish).encode()]
        return app(request, start)  # type: ignore[no-any-return]


@contextmanager
def serve() -> Iterator[Storage]:
    """A server with an empty bucket, and an environment that leads to it."""
    fsspec, _ = pytest.importorskip("fsspec"), pytest.importorskip("s3fs")
    application = pytest.importorskip("moto.moto_server.werkzeug_app")
    serving = pytest.importorskip("werkzeug.serving")
    app = application.DomainDispatcherApplication(application.create_backend_app)

    class Quiet(serving.WSGIRequestHandler):  # type: ignore[misc,name-defined]
        def log(self, *_: Any) -> None:
            """Nothing."""

    def answer(request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        return storage.answer(app, request, start)

    server = serving.make_server("127.0.0.1", 0, answer, threaded=True, request_handler=Quiet)
    address = f"http://127.0.0.1:{server.server_port}"
    storage = Storage(address, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", address)
        patch.setenv("AWS_ACCESS_KEY_ID", "name")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "word")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_MAX_ATTEMPTS", "2")
        Thread(target=server.serve_forever, daemon=True).start()
        urlopen(
            Request(f"{address}/moto-api/reset", method="POST")
        ).close()  # servers of a process share objects
        storage.files = fsspec.filesystem("s3", skip_instance_cache=True)
        storage.files.mkdir(BUCKET)
        type(storage.files).clear_instance_cache()
        yield storage
        server.shutdown()
