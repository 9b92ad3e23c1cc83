import { assert, it } from "@effect/vitest"
import * as fs from "node:fs"
import { settings } from "../../../src/Http/config/settings.ts"

const byText = (a: string, b: string): number => a < b ? -1 : 1

const keys = Object.values(settings).map(({ key }) => key).toSorted(byText)

it("no secret is shown", () => {
  const { mongoHost, securityCursorSecret, telemetryEndpoint, telemetryHeaders } = settings
  assert.deepStrictEqual([securityCursorSecret.shown("a"), telemetryHeaders.shown("x-key=a")], ["(secret)", "(secret)"])
  assert.strictEqual(telemetryEndpoint.shown("https://u:p@c.example:4318/a"), "https://(secret)@c.example:4318/a")
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
  for (const [url, text] of shown) assert.strictEqual(mongoHost.shown(url), text)
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
