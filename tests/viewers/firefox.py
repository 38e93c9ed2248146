# SPDX-License-Identifier: MIT
"""A page in headless Firefox, driven by Marionette, Firefox's own protocol for automation: Debian has no geckodriver.
A message is its length in decimal, a colon, and JSON: [0, id, command, parameters] and [1, id, error, result]. What the
page asks of the network and what Firefox writes to its console are recorded, by scripts in the browser's own context.

The class has the operations of browser.Page that a case of both browsers needs."""
import base64
import contextlib
import json
import shutil
import socket
import subprocess
import time

from support.cases import Failure, expect

START_S = 60
OPEN_S = 60
FIREFOX = "/usr/bin/firefox-esr"

PREFERENCES = {
    "marionette.port": 0,  # any; MarionetteActivePort in the profile says which
    "browser.shell.checkDefaultBrowser": False, "browser.aboutwelcome.enabled": False, "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.enabled": False, "extensions.update.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "app.normandy.enabled": False, "services.settings.server": "data:,#",
    "layout.css.prefers-color-scheme.content-override": 1,
}

# Addresses that any page asks for, from now on.
WATCH_REQUESTS = """
globalThis.remoraRequests = [];
if (!globalThis.remoraObserver) {
    globalThis.remoraObserver = {observe(subject) {
        const channel = subject.QueryInterface(Ci.nsIHttpChannel);
        if (channel.loadInfo.browsingContextID) {
            globalThis.remoraRequests.push(channel.URI.spec);
        }
    }};
    Services.obs.addObserver(globalThis.remoraObserver, "http-on-modify-request");
}
Services.console.reset();
"""

# Errors and warnings of pages, refusals of their policies among them; not those of the browser's own parts.
COMPLAINTS = """
return Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError)
    .filter((one) => one.sourceName.startsWith("file:") || one.innerWindowID !== 0).map((one) => one.errorMessage);
"""

PAINTED = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"


class Marionette:
    """One connection. A command that fails is a Failure with the browser's words."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=OPEN_S)
        self.unread = b""
        self.number = 0
        self.receive()  # what the browser is

    def receive(self):
        while (colon := self.unread.find(b":")) < 0 or len(self.unread) < colon + 1 + int(self.unread[:colon]):
            more = self.socket.recv(1 << 16)
            expect(more, "Firefox closed the connection")
            self.unread += more
        end = colon + 1 + int(self.unread[:colon])
        message, self.unread = json.loads(self.unread[colon + 1:end]), self.unread[end:]
        return message

    def command(self, name, **parameters):
        self.number += 1
        text = json.dumps([0, self.number, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self.receive()
        if error or number != self.number:
            raise Failure(f"Firefox: {name}: {error}")
        return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result


class Page:
    def __init__(self, marionette, size):
        self.marionette = marionette
        self.command = marionette.command
        self.command("WebDriver:NewSession", acceptInsecureCerts=False)
        self.command("WebDriver:SetWindowRect", width=size[0], height=size[1])

    def in_browser(self, script):
        """A script in the context of the browser itself."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.command("WebDriver:ExecuteScript", script=script, args=[], sandbox="system")
        finally:
            self.command("Marionette:SetContext", value="content")

    def open(self, path, address=""):
        """address: what follows #."""
        self.command("WebDriver:Navigate", url="about:blank")
        self.in_browser(WATCH_REQUESTS)
        self.command("WebDriver:Navigate", url=f"file://{path}{address}")
        deadline = time.monotonic() + OPEN_S
        while not (state := self.run("return document.body.dataset.state || null")):
            if time.monotonic() > deadline:
                raise Failure(f"the page does not open: {self.complaints()}")
            time.sleep(0.02)
        if state != "ready":
            raise Failure(f"the page: {self.text('#banners')}; {self.complaints()}")
        return self

    def run(self, script, *arguments):
        """The script's value; `report` has what the page is made of."""
        return self.command("WebDriver:ExecuteScript", script=script, args=arguments, sandbox=None)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.run("return Array.from(document.querySelectorAll(arguments[0]), (one) => one.textContent)",
                        selector)

    def press(self, *keys):
        (element,) = self.command("WebDriver:FindElement", using="css selector", value="#rows").values()
        self.command("WebDriver:ElementSendKeys", id=element, text="".join(keys))

    def wheel_at(self, selector, x, y, delta):
        """x, y: from its left upper corner."""
        left, top = self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                             "return [box.left, box.top]", selector)
        self.command("WebDriver:PerformActions", actions=[{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": round(left + x), "y": round(top + y), "deltaX": 0, "deltaY": delta,
             "duration": 0, "origin": "viewport"}]}])

    def span(self):
        return self.run("return [report.view.from, report.view.to]")

    def painted(self):
        """Waits until a frame is drawn."""
        self.command("WebDriver:ExecuteAsyncScript", script=PAINTED, args=[], sandbox=None)
        return self

    def complaints(self):
        return self.in_browser(COMPLAINTS)

    def requests(self):
        """Addresses that were asked for since the page was opened, but for its own."""
        return self.in_browser("return globalThis.remoraRequests")

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.command("WebDriver:TakeScreenshot", full=False)))


def start(profile, log):
    """Firefox, and the port of its Marionette."""
    shutil.rmtree(profile, ignore_errors=True)
    profile.mkdir(parents=True)
    (profile / "user.js").write_text("".join(
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()))
    process = subprocess.Popen([FIREFOX, "--headless", "--no-remote", "--profile", str(profile), "--marionette",
                                "--remote-allow-system-access"], stdin=subprocess.DEVNULL, stdout=log,
                               stderr=subprocess.STDOUT, env={"HOME": str(profile), "PATH": "/usr/bin:/bin",
                                                              "MOZ_CRASHREPORTER_DISABLE": "1"})
    port_file = profile / "MarionetteActivePort"
    deadline = time.monotonic() + START_S
    while not (port_file.exists() and (text := port_file.read_text().strip())):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise Failure(f"Firefox does not start; its last words are in {log.name}")
        time.sleep(0.05)
    return process, int(text)


@contextlib.contextmanager
def firefox(ctx, *, size=(1400, 900)):
    with open(ctx.dir / "firefox.log", "w", encoding="utf-8") as log:
        process, port = start(ctx.dir / "firefox", log)
        try:
            page = Page(Marionette(port), size)
            yield page
            with contextlib.suppress(Failure, OSError):
                page.command("Marionette:Quit", flags=["eForceQuit"])
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
        finally:
            process.kill()
            process.wait()
