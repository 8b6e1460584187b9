"""Configuration of agents as people have it: comments, habits and all."""

import json

CLAUDE = """{
  // my model
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}, /* keep */
    ],
    "PreToolUse": []
  },
}
"""
EXISTING = {
    ".claude/settings.json": CLAUDE,
    ".claude.json": json.dumps({"numStartups": 3, "projects": {"/x": {"mcpServers": {}}}}),
    ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./notify"}]}}',
    ".cursor/mcp.json": '{\r\n\t"mcpServers": {\r\n\t\t"github": {"url": "https://x"}\r\n\t}\r\n}',
    ".config/devin/config.json": '\ufeff{\n    "theme": "dark"\n}\n',
    ".config/devin/mcp_config.json": "{}",
    ".codeium/windsurf/mcp_config.json": '{\n  "mcpServers": {}\n}\n',
    ".copilot/mcp-config.json": '{\n  "mcpServers": {\n    "a": {"type": "http"}\n  }\n}\n',
    ".config/Code/User/mcp.json": '{\n\t"servers": {\n\t\t// none yet\n\t},\n\t"inputs": []\n}',
    ".config/opencode/opencode.jsonc": '{\n  // theme\n  "theme": "x",\n}\n',
    ".openclaw/openclaw.json": "{\n  gateway: { port: 1 }, // local\n}\n",
    ".codex/config.toml": '# mine\r\nmodel = "o9"\r\n\r\n[mcp_servers.x]\r\ncommand = "y"\r\n',
    ".codex/hooks.json": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
    ".gemini/config/hooks.json": '{"lint": {"enabled": true, "Stop": [{"command": "lint"}]}}',
    ".gemini/config/mcp_config.json": "",
    ".gemini/settings.json": '{\n  "theme": "x",\n\n  "mcpServers": { "a": { "command": "b" } }\n}',
}
"""Files of a user by their path, for every agent that has one to share."""
