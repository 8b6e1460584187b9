import { spawn } from "node:child_process"

const COMMAND = ["__COMMAND__"]
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
