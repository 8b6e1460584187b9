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
