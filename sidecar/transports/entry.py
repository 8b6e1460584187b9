"""The `threadline` command: which transport it means, before any of them is loaded."""

import sys


def main() -> int:
    """Run the transport that the first word names; an interruption, also of what is still loading, is no failure."""
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def _run(words: list[str]) -> int:  # noqa: PLR0911  # one for each transport
    if words[:1] == ["hook"] and "--help" not in words and "-h" not in words:
        from sidecar.transports.hooks import main as hook  # noqa: PLC0415  # a host waits for it

        return hook.main(words[1:])
    if words[:1] == ["serve"] and "--help" not in words and "-h" not in words:
        from sidecar.transports.lsp import server  # noqa: PLC0415  # loaded only by whoever serves

        return server.main(words[1:])
    if words[:1] == ["mcp"] and "--help" not in words and "-h" not in words:
        from sidecar.transports.mcp import main as mcp  # noqa: PLC0415  # likewise

        return mcp.main(words[1:])
    if words[:1] == ["dashboard"] and "--help" not in words and "-h" not in words:
        from sidecar.transports.web import main as web  # noqa: PLC0415  # likewise

        return web.main(words[1:])
    if words[:1] == ["demo"] and "--help" not in words and "-h" not in words:
        # It has a home of its own, and never opens the user's.
        from sidecar.transports.cli import demo  # noqa: PLC0415  # likewise

        return demo.main(words)
    if words[:1] == ["completion"] and "--help" not in words and "-h" not in words:
        # It says what the words are, and opens nothing.
        from sidecar.transports.cli import completion  # noqa: PLC0415  # likewise

        return completion.main(words)
    from sidecar.transports.cli import main as cli  # noqa: PLC0415  # likewise

    return cli.main(words)


if __name__ == "__main__":
    sys.exit(main())
