"""The small plugins that OpenCode and OpenClaw load; all they do is start our hook and hand on its answer."""

import json

from sidecar.domain.connections.contents import SIGN
from sidecar.domain.connections.programs import Program

_SHARED = """\
import { spawn } from "node:child_process"

const COMMAND = %(command)s
const PATIENCE_MS = %(patience)d

// Starts the hook with JSON on its standard input. Whatever goes wrong, the answer is empty and nobody is disturbed.
const ask = (event, body) =>
  new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", "%(agent)s", event], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
        %(cwd)s
      })
      let said = ""
      const timer = setTimeout(() => child.kill(), PATIENCE_MS)
      const end = () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(said) ?? {})
        } catch {
          resolve({})
        }
      }
      child.on("error", end)
      child.on("close", end)
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => (said += text))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(body))
    } catch {
      resolve({})
    }
  })
"""

_OPENCODE = """
const TOLD = new Set([
  "session.created",
  "session.idle",
  "session.compacted",
  "session.deleted",
  "session.error",
  "file.edited",
])
const textOf = (answer) =>
  answer.additionalContext ?? answer["output.system.push"] ?? answer["output.context.push"] ?? ""

export const Threadline = async ({ directory, worktree }) => {
  const where = { directory, worktree }
  // What a session was told stays for all its requests, so that the host can cache it.
  const told = new Map()
  const keep = (session, answer) => {
    const text = textOf(answer)
    if (session && text) told.set(session, [...(told.get(session) ?? []), text])
  }
  return {
    event: async ({ event }) => {
      if (!TOLD.has(event.type)) return
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      keep(session, await ask(event.type, { ...where, ...event.properties }))
      if (event.type === "session.deleted") told.delete(session)
    },
    "chat.message": async (input, output) => {
      const { message, parts } = output
      keep(input.sessionID, await ask("chat.message", { ...where, input, output: { message, parts } }))
    },
    "tool.execute.after": async (input, output) => {
      const { title, metadata, isError } = output
      await ask("tool.execute.after", { ...where, input, output: { title, metadata, isError } })
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const text of told.get(input.sessionID) ?? []) output.system.push(text)
    },
    "experimental.session.compacting": async (input, output) => {
      const text = textOf(await ask("experimental.session.compacting", { ...where, input }))
      if (text) output.context.push(text)
    },
  }
}
"""

_OPENCLAW = """
const HEARD = [
  "session_start",
  "after_tool_call",
  "agent_end",
  "before_compaction",
  "after_compaction",
  "session_end",
]

export default {
  id: "threadline",
  name: "Threadline",
  description: "A memory for your repository, shared by you and your AI assistants.",
  register(api) {
    for (const hook of HEARD) {
      api.on(hook, async (event, ctx) => {
        await ask(hook, { hook, event, ctx })
      })
    }
    api.on("before_prompt_build", async (event, ctx) => {
      const hook = "before_prompt_build"
      const answer = await ask(hook, { hook, event: { prompt: event.prompt }, ctx })
      return answer.prependContext ? { prependContext: answer.prependContext } : undefined
    })
  },
}
"""

_PATIENCE_MS = 10_000
"""Node counts in milliseconds."""

OPENCLAW_MANIFEST = (
    json.dumps(
        {
            "id": "threadline",
            "name": "Threadline",
            "description": f"A memory for your repository. {SIGN}.",
            "configSchema": {"type": "object", "additionalProperties": False, "properties": {}},
        },
        indent=2,
    )
    + "\n"
)
OPENCLAW_PACKAGE = (
    json.dumps(
        {
            "name": "threadline-openclaw",
            "version": "0.1.0",
            "description": f"A memory for your repository. {SIGN}.",
            "private": True,
            "type": "module",
            "openclaw": {"extensions": ["./index.js"]},
        },
        indent=2,
    )
    + "\n"
)


def write_opencode(program: Program) -> str:
    """Write OpenCode's plugin."""
    return _written(program, "opencode", "cwd: body.worktree || body.directory,") + _OPENCODE


def write_openclaw(program: Program) -> str:
    """Write OpenClaw's plugin."""
    return _written(program, "openclaw", "cwd: body.ctx?.workspaceDir,") + _OPENCLAW


def _written(program: Program, agent: str, cwd: str) -> str:
    facts = {
        "command": json.dumps(list(program.words)),
        "patience": _PATIENCE_MS,
        "agent": agent,
        "cwd": cwd,
    }
    return f"// {SIGN}; `threadline disconnect {agent}` removes it.\n" + _SHARED % facts
