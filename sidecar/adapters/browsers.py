"""The user's browser, where there is one to be seen."""

import sys
import threading
import webbrowser
from collections.abc import Mapping

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""What tells that something can be shown; without it a browser would take over the terminal."""


def show(address: str, environment: Mapping[str, str]) -> bool:
    """Open an address without waiting for it; False where nothing can be shown."""
    if sys.platform.startswith("linux") and not any(map(environment.get, _SCREENS)):
        return False
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    return True
