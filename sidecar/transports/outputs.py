"""Outputs: standard output belongs to the protocol."""

import os
import sys


def own() -> int:
    """Keep standard output for the protocol alone; what anyone prints goes to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return output
