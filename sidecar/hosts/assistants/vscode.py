"""VS Code's chat; it runs the hooks of Copilot."""

from sidecar.hosts.assistant import Assistant, File, ServerEntry, claude_answer
from sidecar.hosts.assistants.copilot import HOOKS_FILE, SHARED_SERVER_FILE


class VSCode(Assistant):
    """VS Code, and editors made from it that have no file of their own."""

    name = "vscode"
    label = "VS Code"
    client_names = ("visual studio code", "vscode", "vscodium", "code-server", "code - oss")
    spellings = ("visual-studio-code",)
    is_editor = True
    files = (
        HOOKS_FILE,
        File(
            user=("{app-data}/Code/User/mcp.json",),
            project=("./.vscode/mcp.json",),
            server=ServerEntry("servers", before={"type": "stdio"}),
        ),
        SHARED_SERVER_FILE,
    )
    signs = ("{app-data}/Code",)
    programs = ("code",)
    notes = ("VS Code asks whether you trust the server before it starts it.",)

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        return claude_answer(text, event)


ASSISTANT = VSCode()
