"""The `threadline` command: which transport it means, before any of them is loaded."""

import sys


def main() -> int:
    """Run the transport that the first word names; all others are the command line's."""
    words = sys.argv[1:]
    if words[:1] == ["serve"] and "--help" not in words and "-h" not in words:
        from sidecar.transports.lsp import server  # noqa: PLC0415  # loaded only by whoever serves

        return server.main(words[1:])
    from sidecar.transports.cli import main as cli  # noqa: PLC0415  # likewise

    return cli.main(words)
