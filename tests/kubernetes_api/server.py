"""The API server: what `kubectl` asks of pods, by HTTP on loopback. Everything else is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.kubernetes_api.cluster import Cluster, Object
from tests.kubernetes_api.web_socket import PROTOCOL, Attached, accept_key

_RESOURCES: Final = {
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [
            {
                "name": "authorization.k8s.io",
                "versions": [{"groupVersion": "authorization.k8s.io/v1", "version": "v1"}],
                "preferredVersion": {"groupVersion": "authorization.k8s.io/v1", "version": "v1"},
            }
        ],
    },
    "/apis/authorization.k8s.io/v1": {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "authorization.k8s.io/v1",
        "resources": [],
    },
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {
                "name": plural,
                "singularName": "",
                "namespaced": True,
                "kind": kind,
                "verbs": ["get", "list", "watch"],
            }
            for plural, kind in (("pods", "Pod"), ("podtemplates", "PodTemplate"), ("events", "Event"))
        ]
        + [
            {
                "name": "pods/attach",
                "singularName": "",
                "namespaced": True,
                "kind": "Pod",
                "verbs": ["create"],
            }
        ],
    },
    "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
}
_BASE: Final = "/api/v1/namespaces/agents/"
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_CONFIG: Final = """\
apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: test, context: {{cluster: test, user: me}}}}]
users: [{{name: me, user: {{}}}}]
current-context: test
"""


class Server(ThreadingHTTPServer):
    """An API server with its cluster, and the ways in which it fails."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cluster = Cluster()
        self.down = False
        """Whether it answers every request with 503."""
        self.cuts: list[str] = []
        """What becomes of the next creations, in order: cut `before` or `after` they are carried out."""
        self.refusals: list[tuple[str, str]] = []
        """Why the next creations are refused, in order: reason and message."""
        self.forbidden: set[str] = set()
        """Resources that may not be used."""
        self.open = True
        self.attached: list[Any] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes is no fault."""

    def cut_attached(self) -> None:
        """Cut the connection of everybody who is attached."""
        for connection in list(self.attached):
            with suppress(OSError, ValueError):
                self.attached.remove(connection)
                connection.shutdown(2)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name)
        """Say nothing."""

    def do_GET(self) -> None:
        path, query = self._asked()
        if self.server.down:
            self._refuse(503, "ServiceUnavailable", "the server is down")
        elif path.rstrip("/") in _RESOURCES:
            self._answer(200, _RESOURCES[path.rstrip("/")])
        elif not path.startswith(_BASE):
            self._refuse(404, "NotFound", f"{path} is not there")
        else:
            self._get(path.removeprefix(_BASE).split("/"), query)

    def _get(self, words: list[str], query: dict[str, str]) -> None:
        cluster = self.server.cluster
        name = dict(each.partition("=")[::2] for each in query.get("fieldSelector", "").split(",")).get(
            "metadata.name", ""
        )
        match words:
            case ["pods"] if query.get("watch") in {"true", "1"}:
                self._watch(name, int(query.get("resourceVersion") or 0))
            case ["pods"]:
                with cluster.changed:
                    found = [pod.made for pod in cluster.pods.values() if name in {"", pod.name}]
                    self._list("PodList", found)
            case ["pods", name]:
                with cluster.changed:
                    pod = cluster.pods.get(name)
                    made = pod and json.loads(json.dumps(pod.made))
                self._answer(200, made) if made else self._missing("pods", name)
            case ["pods", name, "attach"]:
                self._attach(name)
            case ["podtemplates", name]:
                template = cluster.templates.get(name)
                self._answer(200, template) if template else self._missing("podtemplates", name)
            case ["events"]:
                about = query.get("fieldSelector", "").removeprefix("involvedObject.name=")
                self._list(
                    "EventList", [each for each in cluster.events if each["involvedObject"]["name"] == about]
                )
            case _:
                self._refuse(404, "NotFound", "/".join(words))

    def do_POST(self) -> None:
        path, query = self._asked()
        made = json.loads(self._body())
        server = self.server
        if server.down:
            self._refuse(503, "ServiceUnavailable", "the server is down")
        elif path == _REVIEWS:
            server.cluster.check("SelfSubjectAccessReview", made)
            attributes = made["spec"]["resourceAttributes"]
            named = "/".join(filter(None, (attributes["resource"], attributes.get("subresource"))))
            self._answer(201, made | {"status": {"allowed": named not in server.forbidden}})
        elif path == f"{_BASE}pods":
            self._create(made, dry=query.get("dryRun") == "All")
        else:
            self._refuse(404, "NotFound", path)

    def _create(self, made: Object, *, dry: bool) -> None:
        server = self.server
        cut = server.cuts.pop(0) if server.cuts and not dry else ""
        if cut == "before":
            self._cut()
        elif faults := server.cluster.check("Pod", made):
            self._refuse(422, "Invalid", "; ".join(faults))
        elif server.refusals:
            self._refuse(403, *server.refusals.pop(0))
        elif made["metadata"]["name"] in server.cluster.pods:
            self._refuse(409, "AlreadyExists", "it exists")
        else:
            kept = made if dry else server.cluster.create(made)
            if cut:
                self._cut()
            else:
                self._answer(201, kept)

    def do_DELETE(self) -> None:
        path, _ = self._asked()
        said = self._body()
        options = json.loads(said) if said else {}
        if self.server.down:
            self._refuse(503, "ServiceUnavailable", "the server is down")
            return
        self.server.cluster.check("DeleteOptions", options)
        name = path.removeprefix(f"{_BASE}pods/")
        grace = options.get("gracePeriodSeconds")
        if grace == 0:
            self.server.cluster.faults.append(f"{name} was deleted by force")
        found = self.server.cluster.delete(name, grace)
        self._answer(200, found) if found else self._missing("pods", name)

    def _watch(self, name: str, since: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in self.server.cluster.changes(
            name, since, lambda: self.server.open and not self.server.down
        ):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _attach(self, name: str) -> None:
        pod = self.server.cluster.pods.get(name)
        if pod is None or pod.container is None or pod.ended or pod.lost:
            self._refuse(400, "BadRequest", "the container does not run")
            return
        offered = self.headers.get("Sec-WebSocket-Protocol", "").replace(" ", "").split(",")
        if PROTOCOL not in offered:
            self.server.cluster.faults.append(f"attach offers {offered}")
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept_key(self.headers["Sec-WebSocket-Key"]))
        self.send_header("Sec-WebSocket-Protocol", PROTOCOL)
        self.end_headers()
        self.server.attached.append(self.connection)
        self.close_connection = True
        try:
            Attached(self.rfile, self.wfile, pod.container).serve()
        finally:
            with suppress(ValueError):
                self.server.attached.remove(self.connection)

    def _asked(self) -> tuple[str, dict[str, str]]:
        url = urlsplit(self.path)
        return url.path, {name: values[-1] for name, values in parse_qs(url.query).items()}

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        said = b""
        while size := int(self.rfile.readline(), 16):
            said += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return said

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(2)

    def _list(self, kind: str, items: list[Object]) -> None:
        metadata = {"resourceVersion": self.server.cluster.version}
        self._answer(200, {"kind": kind, "apiVersion": "v1", "metadata": metadata, "items": items})

    def _missing(self, resource: str, name: str) -> None:
        self._refuse(404, "NotFound", f'{resource} "{name}" not found', {"kind": resource, "name": name})

    def _refuse(self, code: int, reason: str, message: str, details: Object | None = None) -> None:
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code,
        } | ({"details": details} if details else {})
        self.server.cluster.check("Status", status)
        self._answer(code, status)

    def _answer(self, code: int, made: Any) -> None:
        said = json.dumps(made).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)


@contextmanager
def own_kubernetes(root: Path) -> Iterator[tuple[Server, dict[str, str]]]:
    """Yield an API server and the variables by which `kubectl` finds it; nothing of it is left."""
    server = Server()
    (root / "kubeconfig").write_text(_CONFIG.format(port=server.server_address[1]))
    serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    serving.start()
    try:
        yield server, {"KUBECONFIG": str(root / "kubeconfig"), "KUBECACHEDIR": str(root / "cache")}
    finally:
        server.open = False
        server.cluster.close()
        server.shutdown()
        server.server_close()
