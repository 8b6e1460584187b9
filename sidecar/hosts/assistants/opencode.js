const AGENT = "opencode"
const workingFolder = (body) => body.worktree || body.directory
const EVENTS = new Set(["session.compacted", "session.deleted"])
const EDITS = /write|edit|patch|create|replace|insert|delete|rename|move/i

export const Threadline = async ({ directory, worktree }) => {
  const where = { directory, worktree: worktree && worktree !== "/" ? worktree : directory }
  // What a session was told stays for all its requests, so that the host can cache it.
  const told = new Map()
  // What is being asked for each session: the host does not wait for events, but a request must.
  const asked = new Map()
  // What a session is to be told instead, once its context is cut.
  const kept = new Map()
  // What the assistant says in each session, until its turn ends: the message, and its words so far.
  const saying = new Map()
  const tell = (event, session, body) => {
    const waiting = Promise.resolve(asked.get(session)).then(async () => {
      const text = (await ask(event, { ...where, ...body })).additionalContext
      if (text && event === "experimental.session.compacting") kept.set(session, [text])
      else if (text) told.set(session, [...(told.get(session) ?? []), text])
      return text
    })
    asked.set(session, waiting)
    return waiting
  }
  const hear = ({ info, part }) => {
    if (info?.role === "assistant" && !info.summary && saying.get(info.sessionID)?.id !== info.id) {
      saying.set(info.sessionID, { id: info.id, text: "" })
    }
    const said = part?.type === "text" ? saying.get(part.sessionID) : undefined
    if (said && said.id === part.messageID) said.text = part.text
  }
  const end = async (session) => {
    const response = saying.get(session)?.text
    saying.delete(session)
    if (response) await tell("session.idle", session, { sessionID: session, response })
  }
  const forget = (session) => {
    for (const known of [told, asked, kept, saying]) known.delete(session)
  }
  return {
    event: async ({ event: { type, properties } }) => {
      const session = properties?.sessionID ?? properties?.info?.id
      if (type === "session.compacted" && kept.has(session)) told.set(session, kept.get(session))
      if (type === "session.created" && !asked.has(session)) await tell(type, session, properties)
      else if (EVENTS.has(type)) await tell(type, session, properties)
      else if (type === "message.updated" || type === "message.part.updated") hear(properties)
      else if (type === "session.idle") await end(session)
      if (type === "session.deleted") forget(session)
    },
    "chat.message": async (input, { message, parts }) => {
      const session = input.sessionID
      // A session that began in another process goes on here, where nothing is left of what it was told.
      if (!asked.has(session)) tell("session.created", session, { sessionID: session, source: "resume" })
      const texts = (parts ?? []).filter((part) => part?.type === "text")
      await tell("chat.message", session, { input, output: { message, parts: texts } })
    },
    "tool.execute.after": async (input, output) => {
      if (!EDITS.test(input.tool)) return
      const { title, isError } = output ?? {}
      await tell("tool.execute.after", input.sessionID, { input, output: { title, isError } })
    },
    "experimental.chat.system.transform": async (input, output) => {
      await asked.get(input.sessionID)
      output.system.push(...(told.get(input.sessionID) ?? []))
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await tell("experimental.session.compacting", input.sessionID, { input })
      if (text) output.context.push(text)
    },
    dispose: async () => {
      await Promise.all(asked.values())
    },
  }
}
