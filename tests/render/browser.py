"""A headless Chromium, controlled by its own protocol over a pipe: https://chromedevtools.github.io/devtools-protocol/."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE, wait_until

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def find_browser() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page; everything that its console says or that goes wrong in it is in ``complaints``, and every address it
    asked for in ``requests``."""

    def __init__(self, command: str, profile: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._n_calls, self._buffer = 0, b""
        self._session: str | None = None
        read_end, self._to = os.pipe()
        self._from, write_end = os.pipe()
        # the browser reads from the descriptor 3 and writes to 4
        shell = f'exec "$0" "$@" 3<&{read_end} 4>&{write_end}'
        arguments = ["bash", "-c", shell, command, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            arguments, pass_fds=(read_end, write_end), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(read_end)
        os.close(write_end)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._session = None
        with suppress(OSError, EOFError, TimeoutError):
            self.call("Browser.close")
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # it is not needed any more
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def call(self, method: str, **parameters: Any) -> Any:
        self._n_calls += 1
        message: dict[str, Any] = {"id": self._n_calls, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._n_calls:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, place: Path | str, *, dark: bool = False, width: int = 1100, height: int = 900) -> None:
        """Show a file or an address, and wait until it is there."""
        address = place if isinstance(place, str) else place.as_uri()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=address)
        self.wait_for(f"location.href + ' ' + document.readyState === {json.dumps(f'{address} complete')}")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        wait_until(lambda: self.evaluate(expression))

    def evaluate(self, expression: str) -> Any:
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str) -> None:
        code = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind, more in (("keyDown" if text else "rawKeyDown", text), ("keyUp", {})):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def type(self, text: str) -> None:
        """Insert a text at the cursor."""
        self.call("Input.insertText", text=text)

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._from, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, facts: dict[str, Any]) -> None:
        if event == "Runtime.consoleAPICalled":
            self.complaints.append(str([argument.get("value") for argument in facts["args"]]))
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(str(facts["exceptionDetails"]))
        elif event == "Log.entryAdded":
            self.complaints.append(facts["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
