// Tells the PM what opencode does, and does what it answers. A copy lies in each run's folder, beside `relay.sh`,
// by which it tells, and `opencode-run.json`, which says what this run is (see `runtimes/opencode.py`).
//
// What it tells, as JSON with a `type`: started, prompt, asked, retry, overflow, used, idle. All but asked and idle want
// no answer. An answer is {"say": "allow" | "deny" | "go_on", "reason"}, or nothing.
//
// What it records as it goes, in `opencode-records.jsonl` (see `formats/transcript_records.py`): that the model was told something,
// which tools are called, what they bring back, and that the model says something. The conversation itself lies in a
// database.

import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const FOLDER = dirname(fileURLToPath(import.meta.url))
const RUN = JSON.parse(readFileSync(join(FOLDER, "opencode-run.json"), "utf8"))
const BEGAN = Date.now()
const EVERY = RUN.usedEvery ?? 10_000 // milliseconds, at the least, between two times that it tells what was used
const RECORDS = join(FOLDER, "opencode-records.jsonl")
const CAUTION = join(FOLDER, "answers", "caution")
const REFUSED = { say: "deny", reason: "The PM cannot be asked just now. Do without, or hand in BLOCKED." }

// Shared by all that load this file in one process: each event is told once.
const shared = (globalThis[Symbol.for(FOLDER)] ??= {
  session: RUN.session, heard: new Set(), prompts: new Map(), cleared: new Set(), busy: false, overflows: 0,
  messages: new Map(), told: 0, later: undefined,
  tools: new Map(), spoke: 0,
})
let last = Promise.resolve()

const relay = (told, waits) =>
  new Promise((done) => {
    const words = [join(FOLDER, "relay.sh"), ...(waits ? ["waits", JSON.stringify(REFUSED)] : [])]
    const child = spawn("sh", words, { stdio: ["pipe", "pipe", "ignore"] })
    let said = ""
    child.stdout.on("data", (piece) => (said += piece))
    child.on("error", () => done(waits ? REFUSED : {}))
    child.on("close", () => {
      try {
        done(said ? JSON.parse(said) : {})
      } catch {
        done(waits ? REFUSED : {})
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(told))
  })

// What wants no answer is told in its order; what waits does not hold up the rest.
const tell = (told) => (last = last.then(() => relay(told, false)))
const ask = (told) => last.then(() => relay(told, true))

const claimed = (name) => {
  try {
    writeFileSync(join(FOLDER, name), "", { flag: "wx" })
    return true
  } catch {
    return false
  }
}

// A disk that is full has no room for it: then less is known of this run.
const record = (told) => {
  try {
    appendFileSync(RECORDS, JSON.stringify({ ...told, timestamp: new Date().toISOString() }) + "\n", { mode: 0o600 })
  } catch {}
}

const print = (...parts) => createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 16)

// Each call once as it begins and once as it ends; of what the model says only that it does, now and then.
const note = (part) => {
  const { status, input, output, error } = part.state ?? {}
  const known = shared.tools.get(part.callID)
  if (part.type !== "tool" || part.sessionID !== shared.session) {
    if (Date.now() - shared.spoke < 5000) return
    shared.spoke = Date.now()
    record({ record: "spoke" })
  } else if (status === "running" && !known) {
    const words = Object.values(input ?? {}).find((each) => typeof each === "string") ?? ""
    const called = print(part.tool, JSON.stringify(input))
    record({ record: "called", id: part.callID, tool: part.tool, words: words.slice(0, 400), print: called })
    shared.tools.set(part.callID, "running")
  } else if (["completed", "error"].includes(status) && known === "running") {
    const brought = String(output ?? error ?? "").replace(/\d+/g, "0")
    record({ record: "returned", id: part.callID, print: print(status, brought) })
    shared.tools.set(part.callID, status)
  }
}

// What the PM has to say ahead of a tool call, once in a run's life.
const cautioned = () => {
  try {
    if (!existsSync(CAUTION) || existsSync(`${CAUTION}.read`)) return ""
    renameSync(CAUTION, `${CAUTION}.read`)
    return JSON.parse(readFileSync(`${CAUTION}.read`, "utf8")).reason
  } catch {
    return ""
  }
}

// What this run used: a session that is gone on with has messages of earlier ones, and sums over all of them.
const usage = (messages) => {
  const own = messages.filter(({ info }) => info.role === "assistant" && info.time?.created >= BEGAN && info.tokens)
  const sum = (count) => own.reduce((so_far, { info }) => so_far + (count(info) || 0), 0)
  const given = ({ tokens: { input, cache } }) => (input || 0) + (cache?.read || 0) + (cache?.write || 0)
  const made = ({ tokens }) => (tokens.output || 0) + (tokens.reasoning || 0)
  const last = own.findLast(({ info }) => given(info))
  // It says 0 of a model whose price it does not know.
  const models = own.filter(({ info }) => !info.cost).map(({ info }) => ({
    model: `${info.providerID}/${info.modelID}`, input: given(info), output: made(info),
    cached: info.tokens.cache?.read || 0, written: info.tokens.cache?.write || 0,
  }))
  return {
    input: sum(given), output: sum(made), cached: sum(({ tokens }) => tokens.cache?.read),
    cost: sum(({ cost }) => cost), context: last ? given(last.info) : 0, models: by_model(models),
  }
}

const by_model = (listed) => {
  const sums = new Map()
  for (const { model, ...counts } of listed) {
    const sum = sums.get(model) ?? { model, input: 0, output: 0, cached: 0, written: 0 }
    for (const [name, count] of Object.entries(counts)) sum[name] += count
    sums.set(model, sum)
  }
  return [...sums.values()]
}

const words = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Orchestrator = async ({ client, directory, worktree }) => {
  delete process.env[RUN.offline]

  const prompt = (text) =>
    client.session.promptAsync({
      path: { id: shared.session }, query: { directory }, body: { agent: RUN.agent, parts: [{ type: "text", text }] },
    })

  // With --session, opencode drops --prompt. The claim makes it at most once.
  const goOn = async () => {
    if (claimed("opencode-prompted")) await prompt(readFileSync(RUN.order, "utf8"))
  }

  const tellUsed = () => {
    clearTimeout(shared.later)
    shared.later = undefined
    shared.told = Date.now()
    tell({ type: "used", session: shared.session, usage: usage([...shared.messages.values()]) })
  }

  const end = async (session) => {
    clearTimeout(shared.later)
    shared.later = undefined
    const { data } = await client.session.messages({ path: { id: session }, query: { directory } })
    const message = (data ?? []).findLast((each) => each.info.role === "assistant")
    const text = message ? words(message.parts) : ""
    const error = message?.info.error ?? shared.error
    const answer = await ask({ type: "idle", session, text, error, usage: usage(data ?? []) })
    if (answer.say === "go_on") await prompt(answer.reason)
  }

  const answered = async (asked) => {
    const cleared = asked.tool && shared.cleared.has(asked.tool.callID)
    const known = cleared && ["bash", "external_directory"].includes(asked.permission)
    const answer = known
      ? { say: "allow" }
      : await ask({
          type: "asked", session: shared.session, permission: asked.permission, patterns: asked.patterns,
          metadata: { filepath: asked.metadata?.filepath, url: asked.metadata?.url }, directory, worktree,
        })
    if (!answer.say) return
    const body = answer.say === "allow" ? { reply: "once" } : { reply: "reject", message: answer.reason || "No." }
    await client._client.post({
      url: "/permission/{id}/reply", path: { id: asked.id }, query: { directory }, body,
      headers: { "Content-Type": "application/json" },
    })
  }

  const heard = async ({ id, type, properties: said }) => {
    if (shared.heard.has(id)) return
    shared.heard.add(id)
    if (type === "permission.asked") return answered(said)
    if (type === "message.part.updated" && said.part && shared.session) note(said.part)
    if (type === "session.created" && !said.info.parentID && !shared.session) {
      shared.session = said.info.id
      tell({ type: "started", session: said.info.id, records: RECORDS })
    }
    if (said.sessionID && said.sessionID !== shared.session) return
    if (type === "message.updated" && said.info.role === "user" && shared.prompts.has(said.info.id)) {
      tell({ type: "prompt", session: shared.session, text: shared.prompts.get(said.info.id) })
      record({ record: "prompted" })
      shared.prompts.delete(said.info.id)
      shared.busy = true
      shared.overflows = 0
      shared.error = undefined
    }
    // What is left of a conversation that was too long is summed up, and does not count as a step.
    if (type === "message.updated" && said.info.finish && !said.info.summary && !said.info.error) shared.overflows = 0
    if (type === "message.updated" && said.info.role === "assistant" && said.info.time?.completed) {
      shared.messages.set(said.info.id, { info: said.info })
      const due = shared.told + EVERY - Date.now()
      if (due <= 0) tellUsed()
      else shared.later ??= setTimeout(tellUsed, due).unref()
    }
    if (type === "session.status" && said.status.type === "retry") {
      if (shared.later) tellUsed() // the run may be ended while it waits for the service
      tell({ type: "retry", session: shared.session, ...said.status, type: "retry", now: Date.now() })
    }
    if (type === "session.error") {
      shared.error = said.error
      if (said.error?.name === "ContextOverflowError") {
        shared.overflows += 1
        tell({ type: "overflow", session: shared.session, error: said.error, count: shared.overflows })
      }
    }
    if (type === "session.idle" && shared.busy) {
      shared.busy = false
      record({ record: "spoke", over: true })
      await end(shared.session)
    }
  }

  if (RUN.session && !shared.started) {
    shared.started = true
    tell({ type: "started", session: shared.session, records: RECORDS })
    setTimeout(() => goOn().catch(() => {}), 0) // not before this plugin is in place
  }
  return {
    config: async (config) => {
      config.permission = RUN.permission
      for (const agent of [config.agent, config.mode].flatMap((each) => Object.values(each ?? {}))) {
        delete agent.permission
        delete agent.tools
      }
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (!shared.session || sessionID === shared.session) shared.prompts.set(message.id, words(parts))
    },
    // A command line is asked about here: opencode itself asks nothing for `> file`, and tells less of it.
    "tool.execute.before": async ({ tool, callID }, { args }) => {
      const word = cautioned()
      if (word) throw new Error(word)
      if (tool !== "bash") return
      const told = { type: "asked", session: shared.session, permission: tool, command: args.command, worktree }
      const answer = await ask({ ...told, directory: args.workdir ?? directory })
      if (answer.say !== "allow") throw new Error(answer.reason || "The PM gives no leave for this.")
      shared.cleared.add(callID)
    },
    event: ({ event }) => void heard(event).catch(() => {}),
  }
}
