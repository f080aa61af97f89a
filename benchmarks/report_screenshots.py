"""Take the pictures of the report that docs/report.md shows.

    python benchmarks/report_screenshots.py

Needs selenium and Debian's chromium with chromium-driver (or Chrome with chromedriver). The report is that of
`heterodag demo`: HOST on the Sachs data, beside the consensus graph. Writes docs/images/report-*.png.
"""

import base64
import io
import shutil
import tempfile
import warnings
from pathlib import Path

from heterodag import HOST, load_sachs
from heterodag.report import render_report
from heterodag.report.html import Comparison
from pages import take_no_arguments

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SHOW = "document.querySelector('{}').scrollIntoView({{ block: 'start', behavior: 'instant' }});"
EDGE = "document.querySelector('tr[data-edge=\"1\"]').click();"
VARIABLE = (
    "document.querySelector('.node[data-node=\"8\"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));"
)
# name, width, height, scheme, what is done before the picture is taken
PICTURES = (
    ("top", 1180, 980, "light", ""),
    ("edge", 1280, 800, "light", EDGE + SHOW.format("#graph")),
    ("phone", 400, 800, "light", SHOW.format("#graph") + VARIABLE),
    ("dark", 1180, 700, "dark", SHOW.format("#pictures")),
)


def page() -> str:
    sachs = load_sachs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST(random_state=0).fit(sachs.data)
    return render_report(
        model,
        sachs.data,
        title="Protein signalling in single cells",
        source="Sachs et al. (2005), observational cells, raw values",
        comparison=Comparison(sachs.adjacency, "the consensus graph"),
    )


def open_browser():
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = next(path for name in BROWSERS if (path := shutil.which(name)))
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def take(driver, address: str, width: int, height: int, scheme: str, action: str) -> bytes:
    """Return a picture of the window as PNG with 256 colours: a quarter of the size, and nobody sees the difference."""
    from PIL import Image

    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(address)
    driver.execute_script(action)
    shot = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
    out = io.BytesIO()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


def main() -> None:
    take_no_arguments(__doc__)
    driver = open_browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            file.write_text(page(), encoding="utf-8")
            for name, *how in PICTURES:
                content = take(driver, file.as_uri(), *how)
                (IMAGES / f"report-{name}.png").write_bytes(content)
                print(f"Wrote report-{name}.png, {len(content) / 1000:.0f} kB.")
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
