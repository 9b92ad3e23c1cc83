import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { Keys } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"
import { printed, type Program, runProgram } from "../../support/processes.ts"
import { bearer, sendTo } from "../../support/rest.ts"

const json = (line: string) => JSON.parse(line)

const linesOf = (program: Program) =>
  program.output().split("\n").filter((line) => line.startsWith("{")).map((line) => json(line))

/** Sends the signal, and waits for the line that tells what came of it. */
const reload = Effect.fnUntraced(function*(program: Program) {
  const told = () => linesOf(program).filter(({ message }) => message.startsWith("The configuration was read again"))
  const before = told().length
  program.process.kill("SIGHUP")
  yield* Effect.callback<void>((resume) => {
    const look = (): void => {
      if (told().length > before) resume(Effect.void)
    }
    program.process.stdout?.on("data", look)
    return Effect.sync(() => program.process.stdout?.off("data", look))
  })
  const { cause: _, level, message, timestamp: __, ...told_ } = told().at(-1)
  return { level, message, ...told_ }
})

describe("SIGHUP", () => {
  it.live(
    "reads levels, limits, languages and keys again, and says what needs a restart",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const configure = (text: string) => fs.writeFileSync(`${folder}/cfg.yml`, `appkernel: ${text}`)
        const keys = ["a", "b"].map((name) => `${folder}/${name}`)
        const ids = yield* Effect.forEach(keys, (key) => Keys.makePair(key, "ES256"))
        const take = (at: number) => fs.copyFileSync(`${keys[at]}/private.pem`, `${folder}/private.pem`)
        const say = (text: string) => fs.writeFileSync(`${folder}/fr.json`, JSON.stringify({ "errors.Route": text }))
        take(0)
        say("rien ici")
        fs.writeFileSync(`${folder}/limit`, "100 per minute")
        const first = `{
        server: { port: 0 },
        logging: { level: info },
        i18n: { path: ${folder}, languages: [fr] },
        security: { private_key_path: ${folder}/private.pem }
      }`
        configure(first)
        // The start script lies elsewhere: the file is found in the working directory.
        const program = yield* runProgram(`${import.meta.dirname}/../../support/reloadedProgram.ts`, {
          APPKERNEL_RATE_LIMITS_PER_ADDRESS_FILE: `${folder}/limit`
        }, ["env", "-C", folder])
        yield* printed(program, "Listening on")
        const [, base = ""] = /Listening on (\S+)"/u.exec(program.output()) ?? []
        const get = (path: string, token?: string) =>
          sendTo(base, "GET", path, undefined, token === undefined ? {} : bearer(token))
        const tokenOf = Effect.map(get("/notes/token"), ({ text }) => String(json(text).result))
        const kidOf = (token: string) => json(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid
        let calls = 0
        const policy = Effect.map(get("/notes/log"), ({ headers }) => {
          calls += 1
          return headers["ratelimit-policy"]
        })
        const old = yield* tokenOf
        assert.strictEqual(kidOf(old), ids[0])
        assert.strictEqual(yield* policy, `"address";q=100;w=60`)
        assert.include((yield* get("/nowhere")).text, "rien ici")

        // Nothing has changed.
        assert.deepStrictEqual(yield* reload(program), {
          level: "INFO",
          message: "The configuration was read again",
          changed: {},
          needs_restart: []
        })
        assert.notInclude(program.output(), "a debug line")

        take(1)
        say("toujours rien")
        fs.writeFileSync(`${folder}/limit`, "50 per minute\n")
        configure(first.replace("port: 0", "port: 1").replace("level: info", "level: debug"))
        assert.deepStrictEqual(yield* reload(program), {
          level: "INFO",
          message: "The configuration was read again",
          changed: {
            "logging.level": { from: "info", to: "debug" },
            "rate_limits.per_address": { from: "100 per minute", to: "50 per minute" },
            translations: { from: "fr", to: "fr" },
            keys: { from: ids[0], to: ids[1] }
          },
          needs_restart: ["server.port"]
        })
        assert.strictEqual(yield* policy, `"address";q=50;w=60`)
        yield* printed(program, "a debug line")
        assert.include((yield* get("/nowhere")).text, "toujours rien")
        const young = yield* tokenOf
        assert.strictEqual(kidOf(young), ids[1])
        // Tokens of the earlier key count on, here and for services that take the keys of this one.
        const statuses = yield* Effect.forEach([old, young], (token) => get("/notes/me", token))
        assert.deepStrictEqual(statuses.map(({ status }) => status), [200, 200])
        const published = json((yield* get("/.well-known/jwks.json")).text)
        assert.deepStrictEqual(published.keys.map(({ kid }: { readonly kid: string }) => kid), [ids[1], ids[0]])

        // What can't be used changes nothing, not even what could be.
        fs.writeFileSync(`${folder}/limit`, "10 per minute")
        fs.writeFileSync(`${folder}/fr.json`, "{")
        const refused = yield* reload(program)
        assert.strictEqual(refused.level, "ERROR")
        assert.match(refused.message, /can't be used, so nothing changes\. Can't translate to "fr"/u)
        assert.strictEqual(yield* policy, `"address";q=50;w=60`)
        configure("{ logging: { level: loud } }")
        assert.match((yield* reload(program)).message, /logging\.level in \S+ is text, expected one of/u)
        assert.include((yield* get("/nowhere")).text, "toujours rien")

        // Requests are lines of the level info.
        say("toujours rien")
        configure(first.replace("level: info", "level: error"))
        fs.writeFileSync(`${folder}/limit`, "20 per minute")
        program.process.kill("SIGHUP")
        yield* Effect.repeat(policy, { until: (text) => text !== `"address";q=50;w=60` })
        yield* policy
        program.process.kill("SIGTERM")
        assert.strictEqual(yield* program.ended, 0)
        assert.strictEqual(linesOf(program).filter(({ message }) => message === "an info line").length, calls - 2)
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
