/** Receivers that lead into networks which others must not reach, and receivers that take time and room. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import dns from "node:dns"
import { syncBuiltinESMExports } from "node:module"
import { makeAllowed } from "../../../src/Http/webhooks/addresses.ts"
import { makeSending } from "../../../src/Http/webhooks/sending.ts"
import { receiver } from "../../support/receiver.ts"

const message = { id: "E1", body: "{}", secrets: [`whsec_${Buffer.alloc(32).toString("base64")}`] }

const refused = "the address is not one of the public internet"

describe("The addresses of receivers", () => {
  it("are those of the public internet, and of networks that are allowed", () => {
    const isAllowed = makeAllowed(["10.1.0.0/16", "fd00::/64"])
    const addresses = [
      ..."0.0.0.0 10.0.0.1 10.2.0.1 100.64.0.1 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1"
        .split(" "),
      ..."172.31.255.255 ::ffff:168.63.129.16 192.0.0.8 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255"
        .split(" "),
      ...":: ::1 ::ffff:127.0.0.1 ::ffff:10.2.0.1 ::127.0.0.1 ::7f00:1 fe80::1 fe80::1%eth0 fec0::1 fc00::1".split(" "),
      ..."ff02::1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1:: 2001::1 2001:db8::1 100::1 5f00::1 x 127.1 2130706433"
        .split(" ")
    ]
    assert.deepStrictEqual(addresses.filter(isAllowed), [])
    const others = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "10.1.2.3", "::ffff:10.1.2.3", "fd00::1"]
    assert.deepStrictEqual(others.filter(isAllowed), others)
    assert.throws(() => makeAllowed(["10.1.0.0"]), "The network 10.1.0.0 is none")
  })

  it.live("are decided on whatever their form and their name is, and nothing is connected to", () =>
    Effect.gen(function*() {
      const { port, received } = yield* receiver()
      const send = yield* makeSending({ insecure: true })
      for (
        const host of [
          "127.0.0.1",
          "localhost",
          "[::1]",
          "[::ffff:127.0.0.1]",
          "[::127.0.0.1]",
          "2130706433",
          "0x7f000001",
          "0177.0.0.1",
          "127.1",
          "127.0.0.1.",
          "①②⑦.0.0.1",
          "0"
        ]
      ) {
        const { failure } = yield* send({ ...message, url: `http://${host}:${port}/` })
        assert.strictEqual(failure, refused, host)
      }
      assert.deepStrictEqual(received, [])
    }))

  it.live("are those that names lead to when they are connected to, each time anew", () =>
    Effect.gen(function*() {
      const { port, received } = yield* receiver()
      const answers: Record<string, ReadonlyArray<string>> = {
        "inside.example": ["127.0.0.1"],
        "rebound.example": ["192.0.2.1", "127.0.0.1"]
      }
      yield* resolving(answers)
      const url = (host: string) => `http://${host}:${port}/`
      const send = yield* makeSending({ insecure: true })
      for (const host of Object.keys(answers)) {
        assert.strictEqual((yield* send({ ...message, url: url(host) })).failure, refused, host)
      }
      assert.deepStrictEqual(received, [])
      // Of several addresses, an allowed one is connected to.
      const local = yield* makeSending({ insecure: true, networks: ["127.0.0.0/8"] })
      assert.strictEqual((yield* local({ ...message, url: url("rebound.example") })).status, 204)
    }))

  it.live("are https, unless the service says otherwise", () =>
    Effect.gen(function*() {
      const { received, url } = yield* receiver()
      const send = yield* makeSending({ networks: ["127.0.0.0/8"] })
      assert.deepStrictEqual(yield* send({ ...message, url }), { failure: "the address is not https" })
      for (const other of ["ftp://127.0.0.1/", "file:///etc/passwd", "x", "http://127.0.0.1:0/"]) {
        assert.isUndefined((yield* send({ ...message, url: other })).status, other)
      }
      assert.deepStrictEqual(received, [])
    }))
})

describe("A receiver", () => {
  const local = { insecure: true, networks: ["127.0.0.0/8"] }

  it.live("that redirects has not received anything", () =>
    Effect.gen(function*() {
      const inside = yield* receiver()
      const { url } = yield* receiver((response) => {
        response.writeHead(307, { location: inside.url }).end()
      })
      const send = yield* makeSending(local)
      assert.deepStrictEqual(yield* send({ ...message, url }), { status: 307 })
      assert.deepStrictEqual(inside.received, [])
    }))

  it.effect("that does not answer is left after its time, and one whose answer does not end counts by its status", () =>
    Effect.gen(function*() {
      const silent = yield* receiver(() => {})
      const slow = yield* receiver((response) => {
        response.writeHead(200).write("a")
      })
      const send = yield* makeSending(local)
      const sendTo = (url: string, isReached: Effect.Effect<void>) =>
        Effect.gen(function*() {
          const sending = yield* Effect.forkChild(send({ ...message, url }))
          yield* isReached
          yield* TestClock.adjust("15 seconds")
          return yield* Fiber.join(sending)
        })
      const reached = Effect.promise(async () => {
        while (silent.received.length === 0) await new Promise(setImmediate)
      })
      assert.deepStrictEqual(yield* sendTo(silent.url, reached), { failure: "the receiver did not answer in time" })
      // The client says so when it has the head of an answer.
      const headed = Effect.callback<void>((resume) => {
        const heard = () => setImmediate(() => resume(Effect.void))
        subscribe("undici:request:headers", heard)
        return Effect.sync(() => unsubscribe("undici:request:headers", heard))
      })
      assert.deepStrictEqual(yield* sendTo(slow.url, headed), { status: 200 })
    }))

  it.live("with a huge answer is cut", () =>
    Effect.gen(function*() {
      const cut = yield* Deferred.make<number>()
      const { url } = yield* receiver((response) => {
        let sent = 0
        const more = () => {
          sent += 65_536
          response.write(Buffer.alloc(65_536), (error) => {
            if (error === undefined || error === null) more()
          })
        }
        response.writeHead(200).on("close", () => Deferred.doneUnsafe(cut, Effect.succeed(sent)))
        more()
      })
      const send = yield* makeSending(local)
      assert.deepStrictEqual(yield* send({ ...message, url }), { status: 200 })
      // What a connection takes without a reader is less.
      assert.isBelow(yield* Deferred.await(cut), 64 * 1_048_576)
    }))
})

/** Answers for names, in the place of the resolver of this machine, until the scope closes. */
const resolving = (answers: { readonly [name: string]: ReadonlyArray<string> }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const original = dns.lookup
      const replaced = (name: string, _: unknown, callback: (error: null, found: ReadonlyArray<object>) => void) =>
        callback(null, (answers[name] ?? []).map((address) => ({ address, family: 4 })))
      Object.assign(dns, { lookup: replaced })
      syncBuiltinESMExports()
      return original
    }),
    (original) =>
      Effect.sync(() => {
        Object.assign(dns, { lookup: original })
        syncBuiltinESMExports()
      })
  )
