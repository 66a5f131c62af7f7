"""Headless Chromium, where it is installed, by its DevTools protocol over two pipes: no driver.

The study of the page uses it, its pictures and its tests.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
"""Where it is, if it is anywhere."""
WAIT: Final = 120.0
"""Seconds after which nothing more is waited for."""
_PIECE: Final = 1 << 16
_OPTIONS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
)


_AS_CHROMIUM_HAS_THEM: Final = """
import os, sys
for place, descriptor in enumerate(sys.argv[1:3], 3):
    os.dup2(int(descriptor), place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def _apart(pipe: tuple[int, int]) -> tuple[int, int]:
    """The same pipe by descriptors that are not those that the protocol has."""
    found = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe)
    for end in pipe:
        os.close(end)
    return found[0], found[1]


class ScriptError(AssertionError):
    """What a script of a page threw, or a command that the browser refused."""


class Browser:
    """A browser with a profile of its own.

    Args:
        profile: a folder, which keeps what pages keep.
        options: of the command line, beside those that a test has anyway.

    """

    def __init__(self, profile: Path, *options: str) -> None:
        if PROGRAM is None:
            raise RuntimeError("there is no chromium here: install your system's package")
        (there, self._out), (self._in, back) = map(_apart, (os.pipe(), os.pipe()))
        # Chromium drops what a sandbox would need where it runs as root.
        own = ("--no-sandbox",) if os.geteuid() == 0 else ()
        command = [PROGRAM, *_OPTIONS, *own, f"--user-data-dir={profile}", *options]
        self._process = subprocess.Popen(  # noqa: S603 - the browser that is installed
            [sys.executable, "-c", _AS_CHROMIUM_HAS_THEM, str(there), str(back), *command],
            pass_fds=(there, back),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._count = 0
        self._answers: dict[int, Queue[Any]] = {}
        self.events: list[dict[str, Any]] = []
        """What it told unasked, in order."""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        held = b""
        with suppress(OSError):
            while piece := os.read(self._in, _PIECE):
                *whole, held = (held + piece).split(b"\0")
                for message in map(json.loads, whole):
                    if "id" in message:
                        self._answers[message["id"]].put(message)
                    else:
                        self.events.append(message)

    def send(self, method: str, session: str | None = None, **given: Any) -> Any:
        """What a command gives.

        Raises:
            ScriptError: it was refused, or is not answered.

        """
        self._count += 1
        number, queue = self._count, Queue[Any]()
        self._answers[number] = queue
        message = {"id": number, "method": method, "params": given}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        try:
            answer = queue.get(timeout=WAIT)
        except Empty:
            raise ScriptError(f"{method} is not answered") from None
        finally:
            del self._answers[number]
        if "error" in answer:
            raise ScriptError(f"{method}: {answer['error']}")
        return answer["result"]

    def context(self) -> str:
        """Another set of storage, apart from all others."""
        found: str = self.send("Target.createBrowserContext")["browserContextId"]
        return found

    def tab(self, context: str | None = None, *, watched: bool = True) -> Tab:
        """A new tab, which shows nothing yet; `watched` is for `told` and `requests`."""
        where = {} if context is None else {"browserContextId": context}
        target = self.send("Target.createTarget", url="about:blank", **where)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, target, session, watched=watched)

    def close(self) -> None:
        """Ends it; its profile is on the disk afterwards."""
        with suppress(ScriptError, OSError):
            self.send("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        self._reader.join(5)
        os.close(self._in)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_WATCH: Final = """
globalThis.violations = [];
addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""


class Tab:
    """A tab: `goto`, `run`, `until`; `Browser.tab` makes it."""

    def __init__(self, browser: Browser, target: str, session: str, *, watched: bool) -> None:
        self._browser, self._target, self._session = browser, target, session
        for domain in ("Page", "Runtime", *(("Log", "Network", "Audits") if watched else ())):
            self.send(f"{domain}.enable")
        self.before(_WATCH)

    def send(self, method: str, **given: Any) -> Any:
        """What a command gives that is of this tab."""
        return self._browser.send(method, self._session, **given)

    def before(self, script: str) -> None:
        """Runs a script in every document before its own."""
        self.send("Page.addScriptToEvaluateOnNewDocument", source=script)

    def goto(self, url: str) -> None:
        """Loads a page; does not wait for what its scripts do."""
        found = self.send("Page.navigate", url=url)
        if "errorText" in found:
            raise ScriptError(f"{url}: {found['errorText']}")

    def run(self, script: str) -> Any:
        """The value of a script, or of its promise.

        Raises:
            ScriptError: what it threw.

        """
        found = self.send(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
            # The page's policy holds for what is tried here too.
            allowUnsafeEvalBlockedByCSP=False,
        )
        if "exceptionDetails" in found:
            detail = found["exceptionDetails"]
            raise ScriptError(detail.get("exception", detail).get("description", str(detail)))
        return found["result"].get("value")

    def until(self, script: str, seconds: float = WAIT) -> Any:
        """The value of a script, once it is one that counts as true.

        Raises:
            ScriptError: it never is; with what the page shows.

        """
        end = time.monotonic() + seconds
        while True:
            with suppress(ScriptError):
                found = self.run(script)
                if found:
                    return found
            if time.monotonic() > end:
                shown = self.run("document.body.innerText")
                raise ScriptError(f"never: {script}\n{shown}\n{self.told()}")
            time.sleep(0.01)

    def told(self) -> list[str]:
        """Errors and warnings that the browser wrote of this tab, and policies that were broken."""
        found = []
        for event in self._browser.events:
            given = event.get("params", {})
            if event.get("sessionId") != self._session:
                continue
            if event["method"] == "Log.entryAdded" and given["entry"]["level"] != "verbose":
                found.append(given["entry"]["text"])
            elif event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(given["exceptionDetails"])[:500])
            elif event["method"] == "Audits.issueAdded":
                found.append(json.dumps(given["issue"])[:500])
        return found

    def requests(self) -> list[str]:
        """Addresses that this tab asked for, methods first."""
        return [
            f"{event['params']['request']['method']} {event['params']['request']['url']}"
            for event in self._browser.events
            if event["method"] == "Network.requestWillBeSent"
            and event.get("sessionId") == self._session
        ]

    def sized(self, width: int, height: int = 800, *, mobile: bool = False) -> None:
        """Gives the window this size, of a telephone or not."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def picture(self, path: Path) -> None:
        """Writes what the whole page looks like as PNG."""
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """Closes the tab."""
        self._browser.send("Target.closeTarget", targetId=self._target)
