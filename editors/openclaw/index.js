// OpenClaw plugin: tells Threadline what happens in a conversation, and puts what Threadline answers before the prompt.
// It needs `plugins.entries.threadline.hooks.allowConversationAccess: true`. Whatever goes wrong, nobody is kept waiting.
import { spawn } from "node:child_process"

const COMMAND = process.env.THREADLINE_COMMAND ?? "threadline"
const PATIENCE = 2500
const HOOKS = [
  "session_start",
  "before_prompt_build",
  "after_tool_call",
  "agent_end",
  "before_compaction",
  "after_compaction",
  "session_end",
]

/** Runs one hook and gives its answer; an empty one where there is none in time. */
const run = (name, message, directory) =>
  new Promise((resolve) => {
    let answer = ""
    let timer
    const finish = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(answer || "{}"))
      } catch {
        resolve({})
      }
    }
    try {
      const child = spawn(COMMAND, ["hook", "openclaw", name], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      timer = setTimeout(() => child.kill(), PATIENCE)
      child.on("error", finish)
      child.on("close", finish)
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => {
        answer += part
      })
      child.stdin.end(JSON.stringify(message))
    } catch {
      finish()
    }
  })

/** Keeps of an event what Threadline reads; a whole conversation is none of it. */
const brief = (name, event) => {
  const { messages, result, ...rest } = event ?? {}
  const last = name === "agent_end" ? (messages ?? []).filter((one) => one?.role === "assistant").slice(-1) : []
  return { ...rest, messages: last }
}

export default {
  id: "threadline",
  register(api) {
    // Some events name only the agent; which of its conversations is meant was told by an earlier one.
    const known = new Map()
    for (const name of HOOKS) {
      api.on(name, async (event, ctx) => {
        const key = ctx?.sessionKey ?? event?.sessionKey
        const where = { ...known.get(key), ...ctx }
        if (event?.sessionId && !where.sessionId) where.sessionId = event.sessionId
        known.set(key, { sessionId: where.sessionId, workspaceDir: where.workspaceDir })
        if (name === "session_end") known.delete(key)
        const message = { hook: name, event: brief(name, event), ctx: where }
        const answer = await run(name, message, where.workspaceDir)
        return answer.prependContext ? { prependContext: answer.prependContext } : undefined
      })
    }
  },
}
