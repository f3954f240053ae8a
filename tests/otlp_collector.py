"""A collector of OpenTelemetry on loopback: takes OTLP over HTTP, in protobuf, as a real one does, and keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from gzip import decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROTOBUF = "application/x-protobuf"


@dataclass
class Collector:
    """What came in. `answers` are the statuses of the next requests; without any it takes all."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    @property
    def spans(self) -> list[Span]:
        """All spans that were taken, in their order."""
        return [
            span
            for request in self.requests
            for of_resource in request.resource_spans
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
        ]


@contextmanager
def a_collector() -> Iterator[Collector]:
    """Yield a collector that listens on a free port."""
    made = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.paths.append(self.path)
            made.headers.append({name.lower(): value for name, value in self.headers.items()})
            status = made.answers.pop(0) if made.answers else 200
            if self.headers["Content-Type"] != PROTOBUF:
                status = 415
            if status == 200:
                if self.headers["Content-Encoding"] == "gzip":
                    body = decompress(body)
                made.requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(status)
            self.send_header("Content-Type", PROTOBUF)
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


def values(holder: Any) -> dict[str, str | int | float | bool]:
    """Return the attributes of a span or resource."""
    found = {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in holder.attributes}
    assert len(found) == len(holder.attributes)
    return found
