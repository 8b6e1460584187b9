// Written by `threadline connect`; `threadline disconnect openclaw` removes it.
import { spawn } from "node:child_process"

const COMMAND = [process.env.THREADLINE_COMMAND ?? "threadline"]
// A hook ends by itself long before, unless its user gives it more time.
const PATIENCE_MS = 10000
const MOST = 1_000_000

// Writes a message, with less of each text where it would be longer than the hook reads.
const write = (body) => {
  let text = "{}"
  for (const most of [100_000, 10_000, 1_000]) {
    text = JSON.stringify(body, (_, value) => (typeof value === "string" ? value.slice(0, most) : value))
    if (Buffer.byteLength(text) <= MOST) break
  }
  return text
}

// Starts the hook with JSON on its standard input. Whatever goes wrong, the answer is empty and nobody is disturbed.
const ask = (event, body) =>
  new Promise((resolve) => {
    try {
      const text = write(body)
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", AGENT, event], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
        cwd: workingFolder(body),
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
      child.stdout.on("data", (part) => (said += part))
      child.stdin.on("error", () => {})
      child.stdin.end(text)
    } catch {
      resolve({})
    }
  })

const AGENT = "openclaw"
const workingFolder = (body) => body.ctx?.workspaceDir
const HEARD = [
  "session_start",
  "before_prompt_build",
  "after_tool_call",
  "agent_end",
  "before_compaction",
  "after_compaction",
  "session_end",
]

// Keeps of an event what the hook reads: of a whole conversation the last answer, of a tool's work what it was told.
const shorten = (hook, event) => {
  const { messages, result, ...rest } = event ?? {}
  if (hook !== "agent_end") return rest
  return { ...rest, messages: (messages ?? []).filter((one) => one?.role === "assistant").slice(-1) }
}

export default {
  id: "threadline",
  name: "Threadline",
  description: "A memory for your repository, shared by you and your AI assistants.",
  register(api) {
    // Some events name only the agent; which of its conversations is meant, and where, was told by an earlier one.
    const known = new Map()
    const find = (event, ctx) => {
      const sessionKey = ctx?.sessionKey ?? event?.sessionKey
      const before = known.get(sessionKey)
      const sessionId = ctx?.sessionId ?? event?.sessionId ?? before?.sessionId
      const workspaceDir = ctx?.workspaceDir ?? before?.workspaceDir
      if (sessionKey) known.set(sessionKey, { sessionId, workspaceDir })
      return { ...ctx, sessionKey, sessionId, workspaceDir }
    }
    for (const hook of HEARD) {
      api.on(hook, async (event, ctx) => {
        const found = find(event, ctx)
        if (hook === "session_end") known.delete(found.sessionKey)
        const answer = await ask(hook, { hook, event: shorten(hook, event), ctx: found })
        return answer.prependContext ? { prependContext: answer.prependContext } : undefined
      })
    }
  },
}
