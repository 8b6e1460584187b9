"""Gemini CLI: tools only."""

from sidecar.hosts.assistant import Assistant, File, ServerEntry


class GeminiCli(Assistant):
    """Google's assistant in a terminal."""

    name = "gemini-cli"
    label = "Gemini CLI"
    client_names = ("gemini",)
    files = (
        File(
            user=("~/.gemini/settings.json",),
            project=("./.gemini/settings.json",),
            server=ServerEntry(),
        ),
    )
    signs = ("~/.gemini/settings.json",)
    programs = ("gemini",)
    notes = ("Gemini CLI gets the tools only: it is told nothing by itself.",)


ASSISTANT = GeminiCli()
