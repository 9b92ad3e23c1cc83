import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Schema } from "effect"
import type { IncomingMessage } from "node:http"
import * as KernelConfig from "../../../src/Http/KernelConfig.ts"
import { makeClientAddress } from "../../../src/Http/server/forwardedAddress.ts"
import { oneOf, upTo } from "../../support/choices.ts"
import { threadTime } from "../../support/turns.ts"

type Header = KernelConfig.ProxyOptions["forwardedHeader"]

const trusted = "127.0.0.1, 10.0.0.0/8, ::ffff:192.0.2.0/120, 2001:db8:ffff::/48"

const find = (forwardedHeader: Header = "x-forwarded-for", trustedProxies = trusted) => {
  const env = { APPKERNEL_SERVER_TRUSTED_PROXIES: trustedProxies, APPKERNEL_SERVER_FORWARDED_HEADER: forwardedHeader }
  const clientAddressOf = makeClientAddress(Effect.runSync(KernelConfig.proxies.parse(ConfigProvider.fromEnv({ env }))))
  return (remoteAddress: string | undefined, header?: string, name: Header = forwardedHeader) =>
    clientAddressOf({
      headers: header === undefined ? {} : { [name]: header },
      // Nothing else of the connection is read.
      socket: { remoteAddress } as IncomingMessage["socket"]
    })
}

const proxies = oneOf("127.0.0.1", "10.1.2.3", "192.0.2.7", "::ffff:10.9.9.9", "2001:db8:ffff::1")
const clients = oneOf("203.0.113.9", "2001:db8::9", "192.0.3.1", "11.0.0.1")

/** What a client may send: anything, entries that look right, and such that could hide those after them. */
const sent = oneOf(
  "203.0.113.66",
  "10.0.0.1, 10.0.0.1",
  "for=203.0.113.66",
  "for=\"[2001:db8::66]",
  "for=\"203.0.113.66, ",
  "for=\"\\",
  "\"",
  "\\\"",
  ",",
  "unknown"
)

const written = {
  "x-forwarded-for": {
    plain: (address: string) => address,
    port: (address: string) => address.includes(":") ? `[${address}]:4711` : `${address}:4711`
  },
  "forwarded": {
    plain: (address: string) => address.includes(":") ? `for="[${address}]"` : `for=${address}`,
    port: (address: string) =>
      `proto=https;by=_x;FOR="${address.includes(":") ? `[${address}]` : address}:4711";host="a, \\"b"`
  }
} as const

describe("the client's address", () => {
  for (const header of ["x-forwarded-for", "forwarded"] as const) {
    const clientAddressOf = find(header)
    it.prop(
      `is what the first trusted proxy saw, whatever the client sends in ${header}`,
      [clients, sent, Schema.String, upTo(3), proxies, proxies, proxies, oneOf("plain", "port")],
      ([client, spoofed, text, hops, first, second, third, form]) => {
        const chain = [client, first, second, third].slice(0, hops + 1)
        const seen = chain.map(written[header][form])
        // The last one is connected to the server; it has written the address of the one before.
        const direct = hops === 0 ? client : chain[hops]!
        const appended = seen.slice(0, hops)
        for (const start of [spoofed, text]) {
          assert.strictEqual(clientAddressOf(direct, [start, ...appended].join(", ")), client)
        }
      }
    )
  }

  it("is that of the connection without trusted proxies, or if the connection is not one's", () => {
    assert.strictEqual(find("x-forwarded-for", "")("127.0.0.1", "203.0.113.9"), "127.0.0.1")
    assert.strictEqual(find("x-forwarded-for", "")("::ffff:127.0.0.1", "203.0.113.9"), "127.0.0.1")
    assert.strictEqual(find()("198.51.100.7", "203.0.113.9"), "198.51.100.7")
    assert.strictEqual(find()("::ffff:198.51.100.7"), "198.51.100.7")
    assert.strictEqual(find()(undefined, "203.0.113.9"), undefined)
  })

  it("is not read from the header that the proxies don't write", () => {
    assert.strictEqual(find("x-forwarded-for")("10.0.0.1", "for=203.0.113.9", "forwarded"), "10.0.0.1")
    assert.strictEqual(find("forwarded")("10.0.0.1", "203.0.113.9", "x-forwarded-for"), "10.0.0.1")
  })

  it("is that of the last trusted proxy before an entry that is no address", () => {
    for (
      const entry of ["unknown", "", "_hidden", "203.0.113", "203.0.113.9.1", "[::1", "a".repeat(100), "203.0.113.9:x"]
    ) {
      assert.strictEqual(find()("10.0.0.1", `203.0.113.66, ${entry}, 10.0.0.2`), "10.0.0.2", entry)
      assert.strictEqual(find("forwarded")("10.0.0.1", `for=203.0.113.66,for="${entry}"`), "10.0.0.1", entry)
    }
    assert.strictEqual(find("forwarded")("10.0.0.1", "for=203.0.113.66;for=203.0.113.67"), "10.0.0.1")
    assert.strictEqual(find("forwarded")("10.0.0.1", "by=203.0.113.66"), "10.0.0.1")
  })

  it("is found in a Forwarded list with empty elements, which count for nothing", () => {
    for (
      const list of [
        "for=203.0.113.9,,for=10.0.0.2",
        "for=203.0.113.9, , for=10.0.0.2,",
        ",for=203.0.113.9,\t,,for=10.0.0.2,,"
      ]
    ) {
      assert.strictEqual(find("forwarded")("10.0.0.1", list), "203.0.113.9", list)
    }
    assert.strictEqual(find("forwarded")("10.0.0.1", ",,"), "10.0.0.1")
    assert.strictEqual(find("forwarded")("10.0.0.1", `for=203.0.113.9${",".repeat(100)}`), "203.0.113.9")
  })

  it("is the first entry if all are trusted", () => {
    assert.strictEqual(find()("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3")
    assert.strictEqual(find()("10.0.0.1"), "10.0.0.1")
  })

  it("is found in lists of 10,000 entries without reading them", () => {
    const before = threadTime()
    for (const entry of ["10.0.0.2", "203.0.113.66", "\"", ""]) {
      const list = `${`${entry}, `.repeat(10_000)}203.0.113.9, 10.0.0.3`
      for (let i = 0; i < 100; i++) assert.strictEqual(find()("10.0.0.1", list), "203.0.113.9")
      assert.strictEqual(
        find("forwarded")("10.0.0.1", `${`for=${entry},`.repeat(10_000)}for=203.0.113.9,for=10.0.0.3`),
        "203.0.113.9"
      )
    }
    assert.isBelow(threadTime() - before, 2_000)
    assert.strictEqual(find()("10.0.0.1", "10.0.0.2,".repeat(10_000)), "10.0.0.1")
  })
})
