"""A server of pygls as it comes: what users of the library get without further care."""

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("stock", "1")


@server.feature("threadline/version")
def version(_server: LanguageServer, _: object) -> None:
    """Answer nothing."""


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
def saved(_: types.DidSaveTextDocumentParams) -> None:
    """Do nothing."""


if __name__ == "__main__":
    server.start_io()
