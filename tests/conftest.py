"""Settings of all tests, and a real browser without a window: Debian's chromium (or Chrome) with its driver.

Tests that need a browser are skipped where there is none.
"""

import json
import shutil
from importlib.util import find_spec

import pytest

#: What fits warn of is expected in most tests; those that look for a warning ask for it (pytest.warns).
EXPECTED = ("AssumptionWarning", "DataWarning", "FitWarning")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


def pytest_configure(config):
    """Set what holds for all tests; the environment that checks distributions has neither of the two packages."""
    if find_spec("heterodag"):
        for name in EXPECTED:
            config.addinivalue_line("filterwarnings", f"ignore::heterodag.errors.{name}")
    if find_spec("hypothesis"):
        from hypothesis import settings

        # No limit per example: on a busy machine a pause of a quarter of a second is no fault of the code.
        settings.register_profile("unhurried", deadline=None)
        settings.load_profile("unhurried")


def found(*names):
    return next((path for name in names if (path := shutil.which(name))), None)


class Page:
    """One tab: opens a page at a width, remembers errors and requests, and clicks as a person does."""

    def __init__(self, driver):
        self.driver = driver
        self.cdp("Network.enable")

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, path, width, height=900):
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.driver.get("about:blank")
        self.logs()
        self.driver.get(path.as_uri())
        self.address = path.as_uri()
        return self

    def logs(self):
        """Return what the browser complained about, and which addresses it asked for, since the last call."""
        complaints = [entry["message"] for entry in self.driver.get_log("browser")]
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return complaints, [request["request"]["url"] for request in sent]

    def click(self, selector, share=0.5):
        """Click where an element is, or at a share of the length of an edge's line; fail if something covers it."""
        x, y, hit = self.js(
            """const element = document.querySelector(arguments[0]), line = element.querySelector('path.line');
            element.scrollIntoView({ block: 'center', behavior: 'instant' });
            const box = element.getBoundingClientRect();
            let point = { x: box.left + box.width / 2, y: box.top + Math.min(box.height / 2, 40) };
            const along = line && line.getPointAtLength(arguments[1] * line.getTotalLength());
            if (line) point = along.matrixTransform(line.getScreenCTM());
            const top = document.elementFromPoint(point.x, point.y);
            return [point.x, point.y, top !== null && (element.contains(top) || top.contains(element))];""",
            selector, share,
        )  # fmt: skip
        assert hit, f"something covers {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, start, steps):
        """Press the mouse at a point, move it by the steps, and let go."""
        x, y = start
        self.cdp("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for dx, dy in steps:
            x, y = x + dx, y + dy
            self.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)
        self.cdp("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def set(self, selector, value):
        """Give an input a value and tell the page, as typing or sliding does."""
        self.js(
            "const input = document.querySelector(arguments[0]); input.value = arguments[1]; "
            "input.dispatchEvent(new Event('input', { bubbles: true }));",
            selector, value,
        )  # fmt: skip

    def texts(self, selector):
        return self.js(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent.trim())", selector
        )

    def seen(self, selector):
        """Return how many elements are shown."""
        return self.js(
            "return [...document.querySelectorAll(arguments[0])].filter((e) => e.getClientRects().length > 0).length",
            selector,
        )


@pytest.fixture(scope="session")
def page():
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed (pip install -e '.[dev]')"
    )
    browser, driver = found(*BROWSERS), found("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium with chromedriver was found (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield Page(driver)
    driver.quit()
