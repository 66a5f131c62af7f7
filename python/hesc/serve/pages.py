"""A page that asks a service from browsers, as static files: what it is made of, and its policies.

The files are those of `web/`. Each is named in the page's document with its digest, which browsers
compare; the document itself is whoever's who serves it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import posixpath
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import ParameterError
from hesc.serve.responses import RefusedError, Response

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

PROTOCOLS: Final = ("linear", "trees", "search")
"""Protocols whose client a page is."""
INDEX: Final = "index.html"
"""The page's document."""
PLAN: Final = "plan.json"
"""The plan among the page's files."""
TITLE: Final = "A private prediction"
"""What a page is called where nobody says otherwise."""
SAME: Final = "/"
"""The service of the host that the page comes from."""
_BELOW: Final = "hesc"
_PACKAGE: Final = ("web",)
_FOLDERS: Final = {
    "": (".js",),
    "built": (".js", ".wasm"),
    "page": (".js", ".css", ".svg", ".html"),
}
_DOCUMENT: Final = f"{_BELOW}/page/{INDEX}"
_PAGE: Final = f"{_BELOW}/page/page.js"
_STYLE: Final = f"{_BELOW}/page/page.css"
_WORKER: Final = f"{_BELOW}/page/worker.js"
WORKER: Final = f"{_BELOW}/worker.json"
"""All modules of the worker in one file, each behind what it imports: one request for them."""
_COMPILED: Final = f"{_BELOW}/built/hesc_wasm_bg.wasm"
# The same that `web/page/files.js` looks for.
_IMPORT: Final = re.compile(
    r'^(?:import|export)\s(?:[^;"]*\sfrom\s)?"(\.{1,2}/[^"]+)"', re.MULTILINE
)
_SERVICE: Final = re.compile(
    r"(https://[a-z0-9.-]+(?::\d{1,5})?|http://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?)"
    r"(/[A-Za-z0-9._~/-]*)?"
)
KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".wasm": "application/wasm",
}
"""Types of a page's files, by their endings."""
HEADS: Final = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
}
"""Heads of every file of a page, beside its policy of contents, where a host can set them."""


class Page(NamedTuple):
    """A page as static files, which lie together in any place of any host."""

    files: dict[str, bytes]
    """Contents by their paths."""
    policy: str
    """The page's `Content-Security-Policy`, for hosts that set heads. The document has it without
    what only heads may say."""

    def response(self, path: str) -> Response:
        """The answer to a request for a file; an empty path is the document.

        Raises:
            RefusedError: there is no such file.

        """
        name = path or INDEX
        if name not in self.files:
            raise RefusedError("not-found")
        heads = {
            "content-type": KINDS[posixpath.splitext(name)[1]],
            "content-security-policy": self.policy,
            **HEADS,
        }
        return Response(200, self.files[name], tuple(heads.items()))


def page(plan: Any = None, *, service: str = SAME, title: str = TITLE) -> Page:
    """A page for a plan, or for whichever model of a service a token is for.

    Args:
        plan: of a protocol among `PROTOCOLS`; without one the page takes it from the service.
        service: an address as `https://models.example.org`, or a path on the page's own host.
        title: what it predicts.

    Raises:
        ParameterError: a plan of another protocol, no such address.

    """
    if plan is not None and plan.protocol not in PROTOCOLS:
        raise ParameterError(
            f"a page has no client of {plan.protocol!r}, but of {', '.join(PROTOCOLS)}: plan with "
            f"Scores(), or ask by hesc.Client and hesc score"
        )
    if plan is not None and plan.protocol == "search" and plan.needs_keys:
        raise ParameterError(
            "clients of this search give the server keys of megabytes, which no page makes: plan "
            "it with keys=False, or ask by hesc.Client"
        )
    found = _SERVICE.fullmatch(service)
    if found is None and service not in (SAME, ".."):
        raise ParameterError(
            f"{service[:80]!r} is no address that a page sends tokens to: give https://host, or "
            f"http://127.0.0.1:port for tries"
        )
    packed = {f"{_BELOW}/{name}": data for name, data in _packed().items()}
    document = packed.pop(_DOCUMENT).decode()
    if plan is not None:
        packed[PLAN] = plan.to_bytes()
    shown = ordered(packed, _PAGE)
    worker = {name: packed.pop(name).decode() for name in ordered(packed, _WORKER)}
    packed[WORKER] = json.dumps(list(worker.items()), separators=(",", ":")).encode()
    digests = {name: _integrity("sha384", data) for name, data in sorted(packed.items())}
    site = {
        "service": service,
        "plan": None if plan is None else plan.digest.hex(),
        "files": digests,
    }
    imports = _json({"integrity": {f"./{name}": digests[name] for name in shown}})
    policy = _policy(_integrity("sha256", imports.encode()), "" if found is None else found[1])
    preloads = [
        f'<link rel="modulepreload" href="{name}" integrity="{digests[name]}">' for name in shown
    ]
    # The page fetches these, with their digests, and need not run before they are on their way.
    preloads += [
        f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{name}">'
        for name in (_COMPILED, WORKER, *([] if plan is None else [PLAN]))
    ]
    parts = {
        "CSP": policy,
        "TITLE": html.escape(title),
        "SITE": _json(site),
        "IMPORTMAP": imports,
        "PRELOADS": "\n".join(preloads),
        "page.css": digests[_STYLE],
        "page.js": digests[_PAGE],
    }
    # One pass: what is put in is not looked through again.
    whole = re.sub(r"@([\w.]+)@", lambda part: parts[part[1]], document)
    return Page(
        {INDEX: whole.encode(), **packed},
        f"{policy}; frame-ancestors 'none'",
    )


def ordered(packed: dict[str, bytes], entry: str) -> list[str]:
    """Modules that one imports, each behind those that it imports itself."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name not in found:
            for path in _IMPORT.findall(packed[name].decode()):
                visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), path)))
            found.append(name)

    visit(entry)
    return found


def _packed() -> dict[str, bytes]:
    """Files of the package in JavaScript and of the page, by their paths in `web/`."""
    root = files("hesc").joinpath(*_PACKAGE)
    found: dict[str, bytes] = {}
    for folder, endings in _FOLDERS.items():
        place: Traversable = root.joinpath(folder) if folder else root
        for file in place.iterdir():
            if file.name.endswith(endings):
                found[posixpath.join(folder, file.name)] = file.read_bytes()
    return found


def _policy(imports: str, service: str) -> str:
    """What the page may load, run and ask: its own files, and the service."""
    return "; ".join(
        [
            "default-src 'none'",
            # The worker's modules are blobs, made of files whose digests were compared.
            f"script-src 'self' '{imports}' blob: 'wasm-unsafe-eval'",
            "worker-src blob:",
            f"connect-src 'self' {service}".rstrip(),
            "style-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types hesc",
        ]
    )


def _integrity(kind: str, data: bytes) -> str:
    return f"{kind}-{base64.b64encode(hashlib.new(kind, data).digest()).decode()}"


def _json(value: Any) -> str:
    """For an element `script`, which no text in it ends."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
