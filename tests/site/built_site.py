"""Where the built site is, and what the tests read from its pages."""

from html.parser import HTMLParser
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
NOT_BUILT = "the site is not built (make docs)"
#: Elements whose addresses a browser fetches by itself.
FETCHED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "use": "href",
}


class Addresses(HTMLParser):
    """The anchors of a page, its links, and what a browser would fetch to show it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep the addresses of an element."""
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        address = given.get(FETCHED.get(tag, ""))
        if address:
            self.fetched.append(address)


def addresses(page):
    """Return the addresses of a built page."""
    return Addresses(page.read_text(encoding="utf-8"))
