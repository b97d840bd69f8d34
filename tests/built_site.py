"""The documentation as `make docs` builds it, and what scripts say of its pages in Chromium."""

import html
import json
import re
import shutil
import subprocess
import sys

import pages
import pytest
from browser import browser, document

# Tests with it run in one process, which builds the site once.
GROUP = pytest.mark.xdist_group("site")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder with the pages."""
    pytest.importorskip("zensical", reason="zensical is in the extra `docs`")
    folder = tmp_path_factory.mktemp("built")
    shutil.copy(pages.ROOT / "mkdocs.yml", folder)
    shutil.copytree(pages.DOCS, folder / "docs")
    for name in ("cer_gpu", "spark_plugin"):
        (folder / name).symlink_to(pages.ROOT / name)
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=folder, check=True)
    return folder / "site"


def told(page, folder, script, *flags):
    """What a script says of the page, opened from the disk, once it has run: `tell` is given to it."""
    if browser() is None:
        pytest.skip("no Chromium: `python tests/browser.py --install` installs it")
    text = page.read_text(encoding="utf-8")
    tried = page.with_name("tried.html")
    errors = "<script>const wrong = []; addEventListener('error', (one) => wrong.push(one.message));</script>"
    tell = f"const tell = (what) => {{ document.body.dataset.told = JSON.stringify(what); }};\n{script}"
    tried.write_text(
        text.replace("<head>", f"<head>{errors}", 1).replace(
            "</body>", f"<script>{{ {tell} }}</script></body>"
        )
    )
    said = re.search(r'data-told="([^"]*)"', document(tried, folder, *flags))
    tried.unlink()
    assert said is not None
    return json.loads(html.unescape(said[1]))
