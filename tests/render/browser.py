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
KEYS = {
    **{"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9},
    **{"Enter": 13, "Escape": 27, "Backspace": 8},
}
CONTROL = 2  # the modifier
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

    def press(self, key: str, *, control: bool = False) -> None:
        """Press a key: a character, or one with a name."""
        code = KEYS.get(key) or ord(key.upper())
        text = {"text": "\r"} if key == "Enter" else {"text": key} if key not in KEYS else {}
        text = {} if control else text
        for kind, more in (("keyDown" if text else "rawKeyDown", text), ("keyUp", {})):
            facts = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": CONTROL * control}
            self.call("Input.dispatchKeyEvent", type=kind, **facts, **more)

    def place(self, element: str) -> tuple[float, float]:
        """Scroll to an element, given by an expression, and return its middle."""
        middle = "const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2];"
        x, y = self.evaluate(
            f"(() => {{ const found = {element}; found.scrollIntoView({{block: 'center'}}); {middle} }})()"
        )
        return x, y

    def click(self, element: str) -> None:
        """Click the middle of an element."""
        x, y = self.place(element)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self._mouse(kind, x, y)

    def drag(self, element: str, goal: str) -> None:
        """Drag the middle of an element to that of another."""
        (x, y), (to_x, to_y) = self.place(element), self.place(goal)
        self._mouse("mouseMoved", x, y)
        self._mouse("mousePressed", x, y)
        for step in range(1, 5):
            self._mouse("mouseMoved", x + (to_x - x) * step / 4, y + (to_y - y) * step / 4, buttons=1)
        self._mouse("mouseReleased", to_x, to_y)

    def _mouse(self, kind: str, x: float, y: float, *, buttons: int = 0) -> None:
        button = {} if kind == "mouseMoved" and not buttons else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, buttons=buttons, **button)

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
