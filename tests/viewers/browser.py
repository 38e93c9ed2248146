# SPDX-License-Identifier: MIT
"""A page in headless Chromium, driven by selenium. What the page asks of the network and what its policy refuses are
recorded."""
import contextlib
import json
import sys
import time

from support.cases import Failure

sys.path.append("/usr/lib/python3/dist-packages")  # python3-selenium, for a Python that is not Debian's
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

OPEN_S = 60


class Page:
    def __init__(self, driver):
        self.driver = driver

    def open(self, path, address=""):
        """address: what follows #."""
        self.driver.get("about:blank")
        self.requests()  # those of the browser's own first page
        self.driver.get(f"file://{path}{address}")
        deadline = time.monotonic() + OPEN_S
        while not (state := self.driver.execute_script("return document.body.dataset.state")):
            if time.monotonic() > deadline:
                raise Failure(f"the page does not open: {self.complaints()}")
            time.sleep(0.02)
        if state != "ready":
            raise Failure(f"the page: {self.text('#banners')}; {self.complaints()}")
        return self

    def run(self, script, *arguments):
        """The script's value; `report` has what the page is made of."""
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.run("return Array.from(document.querySelectorAll(arguments[0]), (one) => one.textContent)",
                        selector)

    def press(self, *keys):
        self.driver.find_element(By.ID, "rows").send_keys(*keys)

    def type_search(self, words):
        self.press("/")
        self.driver.switch_to.active_element.send_keys(words, Keys.ENTER)

    def span(self):
        return self.run("return [report.view.from, report.view.to]")

    def painted(self):
        """Waits until a frame is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")
        return self

    def click_at(self, selector, x, y):
        """x, y: from its left upper corner. Waits for the frame after it: what a click changes is drawn there."""
        left, top = self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                             "return [box.left, box.top]", selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": kind, "x": left + x, "y": top + y, "button": "none" if kind == "mouseMoved" else "left",
                "clickCount": 0 if kind == "mouseMoved" else 1})
        self.painted()

    def wheel_at(self, selector, x, y, delta):
        left, top = self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                             "return [box.left, box.top]", selector)
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": left + x, "y": top + y,
                                                                 "deltaX": 0, "deltaY": delta})

    def complaints(self):
        """Errors, and refusals of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for since the last call."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found


@contextlib.contextmanager
def chromium(ctx, *, size="1400,900"):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={size}",
                 f"--user-data-dir={ctx.dir}/profile", "--disable-background-networking",
                 "--disable-component-update", "--no-first-run"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        yield Page(driver)
    finally:
        driver.quit()
