"""How the pages are built: `make docs`."""

project = "Threadline"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Threadline"
html_show_copyright = False
exclude_patterns = ["_build"]
myst_heading_anchors = 3
