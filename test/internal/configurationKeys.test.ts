import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import * as fs from "node:fs"
import { type Key, rows, settings } from "../../src/internal/configurationKeys.ts"

const byText = (a: string, b: string): number => a < b ? -1 : 1

const keys = rows.map(([key]): string => key).toSorted(byText)

it("no secret is shown", () => {
  const shownOf = (key: Key, text: string) => settings[key].shown(text)
  assert.strictEqual(shownOf("security.cursor_secret", "a"), "(secret)")
  assert.strictEqual(shownOf("telemetry.headers", "x-key=a"), "(secret)")
  assert.strictEqual(shownOf("telemetry.endpoint", "https://u:p@c.example:4318/a"), "https://(secret)@c.example:4318/a")
  const shown: ReadonlyArray<readonly [url: string, text: string]> = [
    ["localhost", "localhost"],
    ["mongodb://a.example,b.example/shop?replicaSet=rs0", "mongodb://a.example,b.example/shop?replicaSet=rs0"],
    ["mongodb://shop:p@ss/w@db.example/shop", "mongodb://(secret)@db.example/shop"],
    ["shop:pw@db.example", "(secret)@db.example"],
    [
      "mongodb+srv://db.example/?authMechanismProperties=AWS_SESSION_TOKEN:abc&tlsCertificateKeyFilePassword=def&w=1",
      "mongodb+srv://db.example/?authMechanismProperties=(secret)&tlsCertificateKeyFilePassword=(secret)&w=1"
    ]
  ]
  for (const [url, text] of shown) assert.strictEqual(shownOf("mongo.host", url), text)
})

it("every key is in the configuration of the shop", () => {
  const found: Array<string> = []
  let section = ""
  let parent = ""
  for (const line of fs.readFileSync("examples/shop/cfg.yml", "utf8").split("\n")) {
    section = /^ {2}(\w+):/u.exec(line)?.[1] ?? section
    const [, mapping] = /^ {4}(?:# )?(\w+):$/u.exec(line) ?? []
    const [, key] = /^ {4}(?:# )?(\w+):/u.exec(line) ?? []
    const [, nested] = /^ {4}(?:# )? {2}(\w+):/u.exec(line) ?? []
    if (mapping !== undefined) parent = mapping
    else if (key !== undefined) found.push(`${section}.${key}`)
    else if (nested !== undefined) found.push(`${section}.${parent}.${nested}`)
  }
  assert.deepStrictEqual(found.toSorted(byText), keys)
})

it("every default is a value of its key, which the reference shows in words", () => {
  for (const [key, { byDefault, otherwise }] of rows) {
    assert.notStrictEqual(otherwise, "", key)
    if (byDefault === undefined) continue
    assert.include(["string", "number", "boolean", "object"], typeof byDefault, key)
  }
  const { "live.max_streams": number, "query.timeout": time, "server.max_body_size": size } = settings
  assert.deepStrictEqual([number.byDefault, Duration.toMillis(time.byDefault), size.byDefault], [
    10_000,
    5_000,
    1_048_576
  ])
  assert.deepStrictEqual(settings["telemetry.signals"].byDefault, ["traces", "metrics"])
  const undescribed = rows.filter(([, { byDefault, otherwise }]) => byDefault === undefined && otherwise !== "none")
  assert.deepStrictEqual(undescribed.map(([key]) => key).toSorted(byText), described)
})

/** The keys whose default depends on something else, which their rows say in words. */
const described = [
  "client.circuit_breaker.failure_threshold",
  "cors.headers",
  "errors.documentation",
  "health.enabled",
  "logging.level",
  "mail.url",
  "mongo.db",
  "mongo.server_selection_timeout",
  "rate_limits.per_address",
  "security.cursor_secret",
  "telemetry.endpoint"
]
