// OpenCode plugin: tells Threadline what happens in a conversation, and gives the model what Threadline answers.
// It belongs into `.opencode/plugins/`. Whatever goes wrong, the conversation goes on without it.
import { spawn } from "node:child_process"

const COMMAND = process.env.THREADLINE_COMMAND ?? "threadline"
const PATIENCE = 2500
const EVENTS = new Set(["session.created", "session.compacted", "session.deleted"])
const EDITS = /write|edit|patch|create|delete|rename/i

/** Runs one hook and gives its answer; an empty one where there is none in time. */
const hook = (event, message, directory) =>
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
      const child = spawn(COMMAND, ["hook", "opencode", event], {
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

export const ThreadlinePlugin = async ({ directory, worktree }) => {
  // What a conversation was told stays the same for its whole length, so that hosts can keep it in their caches.
  const told = new Map()
  const speakers = new Map()
  const words = new Map()
  const place = { directory, worktree: worktree && worktree !== "/" ? worktree : directory }
  const tell = async (event, message, session) => {
    const answer = await hook(event, { ...place, ...message }, directory)
    const text = answer.additionalContext
    if (text && session && event !== "experimental.session.compacting") {
      told.set(session, told.has(session) ? `${told.get(session)}\n\n${text}` : text)
    }
    return text
  }

  return {
    event: async ({ event }) => {
      const { type, properties } = event
      if (EVENTS.has(type)) {
        await tell(type, properties, properties.sessionID ?? properties.info?.id)
      } else if (type === "message.updated") {
        speakers.set(properties.info?.id, properties.info?.role)
      } else if (type === "message.part.updated" && properties.part?.type === "text") {
        const { messageID, sessionID, text } = properties.part
        if (speakers.get(messageID) === "assistant") words.set(sessionID, text)
      } else if (type === "session.idle") {
        const response = words.get(properties.sessionID)
        words.delete(properties.sessionID)
        speakers.clear()
        if (response) await tell(type, { ...properties, response }, properties.sessionID)
      }
    },
    "chat.message": async (input, output) => {
      await tell("chat.message", { input, output: { message: output.message, parts: output.parts } }, input.sessionID)
    },
    "tool.execute.after": async (input, output) => {
      if (!EDITS.test(input.tool)) return
      const { title, isError } = output ?? {}
      await tell("tool.execute.after", { input, output: { title, isError } }, input.sessionID)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = told.get(input.sessionID)
      if (text) output.system.push(text)
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await tell("experimental.session.compacting", { input }, input.sessionID)
      if (text) output.context.push(text)
    },
  }
}
