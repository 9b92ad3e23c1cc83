import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { inspect } from "node:util"
import { type MongoAddress, parseAddress } from "../src/driver/connectionString.ts"

const parsed = (text: string): MongoAddress => {
  const address = parseAddress(text)
  assert.isDefined(address)
  return address
}

describe("parseAddress", () => {
  it.each([
    ["localhost", "mongodb://localhost", "localhost:27017"],
    ["db.example:27018", "mongodb://db.example:27018", "db.example:27018"],
    ["a:1,b", "mongodb://a:1,b", "a:1,b:27017"],
    ["[::1]:27018", "mongodb://[::1]:27018", "[::1]:27018"],
    ["app:secret@db", "mongodb://app:secret@db", "db:27017"]
  ])("takes %s for a host", (text, url, hosts) => {
    const address = parsed(text)
    assert.strictEqual(Redacted.value(address.url), url)
    assert.strictEqual(address.hosts, hosts)
    assert.isUndefined(address.database)
  })

  it.each([
    ["mongodb://db.example/shop", "db.example:27017", "shop"],
    ["mongodb://db.example:27018/", "db.example:27018", undefined],
    ["mongodb://app:p%40ss@a:1,b:2/shop?replicaSet=rs0", "a:1,b:2", "shop"],
    ["mongodb+srv://app:secret@cluster.example/shop%2D1?retryWrites=true", "cluster.example", "shop-1"],
    ["mongodb://db.example?replicaSet=rs0", "db.example:27017", undefined]
  ])("takes the URL %s as it is", (text, hosts, database) => {
    const address = parsed(text)
    assert.strictEqual(Redacted.value(address.url), text)
    assert.strictEqual(address.hosts, hosts)
    assert.strictEqual(address.database, database)
  })

  it.each([
    "",
    "not a host",
    "postgres://app:canary@db/shop",
    "mongodb://app:can@ary@db/shop",
    "mongodb://app:can/ary@db/shop",
    "mongodb://app:can?ary@db/shop",
    "mongodb://app:canary#@db/shop",
    "mongodb://app:canary@db:port/shop",
    "mongodb://app:canary@/shop",
    "mongodb://app:canary%zz@db/shop",
    "mongodb://app:canary@db/a b",
    "mongodb://app:canary@db/shop?proxyPassword=%zz"
  ])("does not take \"%s\"", (text) => {
    assert.isUndefined(parseAddress(text))
  })

  it("recognises the URL's options in any case", () => {
    const { sets } = parsed("mongodb://db/?ConnectTimeoutMS=1&tls")
    assert.isTrue(sets("connectTimeoutMS"))
    assert.isTrue(sets("tls"))
    assert.isFalse(sets("serverSelectionTimeoutMS"))
  })

  it("removes passwords of any notation from a text, and the user of any URL", () => {
    const { redact } = parsed("mongodb://app:p%40ss%2Fword@db/?proxyPassword=hush&authMechanismProperties=TOKEN:t0k")
    assert.strictEqual(
      redact("p%40ss%2Fword, p@ss/word, hush, TOKEN:t0k, mongodb://app@db and https://somebody:else@example"),
      "<redacted>, <redacted>, <redacted>, <redacted>, mongodb://<redacted>@db and https://<redacted>@example"
    )
  })

  it("does not show the password when it is inspected", () => {
    assert.notInclude(inspect(parsed("mongodb://app:canary@db/shop"), { depth: null }), "canary")
  })
})
