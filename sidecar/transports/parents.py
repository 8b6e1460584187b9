"""Who started this process, asked before anything that takes time: who dies meanwhile must not go unnoticed."""

import os

PARENT = os.getppid()
