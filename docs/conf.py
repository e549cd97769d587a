"""How Sphinx makes a site of these pages: ``make docs``.

Sphinx with the furo theme, because both are well kept, and MyST lets the pages stay the Markdown that is read
in the repository. The order of pages is here and not in them: a list of contents would look like code.
"""

from typing import Any

project = "demosaic-ntc"
copyright = "the authors of demosaic-ntc, MIT licence"

extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["*.py", "results.json"]
html_theme = "furo"
html_title = "demosaic-ntc"
html_show_sphinx = False
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]

PAGES = (
    "photographers",
    "convert",
    "merge",
    "inpaint",
    "studio",
    "folders",
    "python",
    "1-problem",
    "2-solver",
    "3-pictures",
    "4-inpainting",
    "tensors",
    "benchmarks",
    "api",
    "layout",
)


def add_contents(app: Any, page: str, source: list[str]) -> None:
    """Give the first page the contents of the site."""
    if page == root_doc:
        source[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *PAGES, "```", ""])


def setup(app: Any) -> None:
    """Have the contents added."""
    app.connect("source-read", add_contents)
