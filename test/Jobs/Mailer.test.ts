/** Mails that a real server of mails receives, refuses, or is not there for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { SMTPServer } from "smtp-server"
import {
  DocumentStore,
  EmbeddedStore,
  Job,
  KernelEngine,
  Mailer,
  Model,
  Repository,
  Resource
} from "../../src/index.ts"
import { freePort } from "../support/processes.ts"

interface Received {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly source: string
}

/** A server that refuses recipients whose name begins with `no`, and wants a password. */
const server = Effect.gen(function*() {
  const received: Array<Received> = []
  const smtp = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new SMTPServer({
        allowInsecureAuth: true,
        hideSTARTTLS: true,
        onAuth: ({ password, username }, _, done) =>
          username === "shop" && password === "secret" ? done(null, { user: "shop" }) : done(new Error("wrong")),
        onRcptTo: ({ address }, _, done) =>
          address.startsWith("no")
            ? done(Object.assign(new Error("no such mailbox"), { responseCode: 550 }))
            : address.startsWith("later")
            ? done(Object.assign(new Error("try again"), { responseCode: 451 }))
            : done(),
        onData: (stream, { envelope }, done) => {
          const chunks: Array<Buffer> = []
          stream.on("data", (chunk: Buffer) => chunks.push(chunk))
          stream.on("end", () => {
            const { mailFrom, rcptTo } = envelope
            received.push({
              from: mailFrom === false ? "" : mailFrom.address,
              to: rcptTo.map(({ address }) => address),
              source: Buffer.concat(chunks).toString()
            })
            done()
          })
        }
      })
    ),
    (smtp) => Effect.callback<void>((resume) => smtp.close(() => resume(Effect.void)))
  )
  const port = yield* freePort
  yield* Effect.callback<void>((resume) => {
    smtp.listen(port, "127.0.0.1", () => resume(Effect.void))
  })
  return { received, url: `smtp://shop:secret@127.0.0.1:${port}` }
})

const from = "Shop <shop@example.org>"

describe("Mailer", () => {
  it.live("gives mails to a server, with their sender, recipients, identifier and content", () =>
    Effect.gen(function*() {
      const { received, url } = yield* server
      yield* Effect.gen(function*() {
        const { send } = yield* Mailer.Mailer
        yield* send({
          to: ["Änn <ann@example.org>", "bob@example.org"],
          bcc: "eve@example.org",
          replyTo: "help@example.org",
          subject: "Grüße aus dem Laden",
          text: "Hallo\n.\nWelt",
          html: "<p>Hallo</p>"
        }, { id: "order/17" })
        const { from: sender, source, to } = received[0]!
        assert.deepStrictEqual(to, ["ann@example.org", "bob@example.org", "eve@example.org"])
        assert.strictEqual(sender, "shop@example.org")
        assert.include(source, "Message-ID: <order%2F17@example.org>")
        assert.include(source, "Reply-To: help@example.org")
        assert.notInclude(source, "eve@example.org")
        assert.match(source, /Content-Type: text\/plain[^]*Content-Type: text\/html/u)
        // A thousand at once share some connections.
        yield* Effect.forEach(
          Array.from({ length: 200 }, (_, i) => i),
          (i) => send({ to: `a${i}@example.org`, subject: `${i}`, text: "." }),
          { concurrency: 50 }
        )
        assert.lengthOf(received, 201)
      }).pipe(Effect.provide(Mailer.layerSmtp({ url, from })))
    }).pipe(Effect.scoped))

  it.effect("names its key, and not its password, where the address of the server can't be read", () =>
    Effect.gen(function*() {
      const layer = Mailer.layerSmtp({ url: "smtps://shop:S3cr#t@mail.example.org", from })
      const exit = yield* Effect.exit(Effect.provide(Mailer.Mailer, layer))
      assert.include(inspect(exit, { depth: 9 }), "mail.url")
      assert.notInclude(inspect(exit, { depth: 9 }), "S3cr")
    }))

  it.live("says what a server refuses, what may work later, and that there is no server", () =>
    Effect.gen(function*() {
      const { received, url } = yield* server
      const failing = (url: string, to: string) =>
        Mailer.Mailer.use(({ send }) => Effect.flip(send({ to, subject: "a", text: "b" }))).pipe(
          Effect.map(({ isPermanent }) => isPermanent),
          Effect.provide(Mailer.layerSmtp({ url, from }), { local: true })
        )
      assert.isTrue(yield* failing(url, "nobody@example.org"))
      assert.isFalse(yield* failing(url, "later@example.org"))
      assert.isFalse(yield* failing(`smtp://127.0.0.1:${yield* freePort}`, "ann@example.org"))
      assert.isTrue(yield* failing(url.replace("secret", "wrong"), "ann@example.org"))
      assert.deepStrictEqual(received, [])
    }).pipe(Effect.scoped))

  it.live("says which recipients a server refuses beside others, and sends to some of them alone", () =>
    Effect.gen(function*() {
      const { received, url } = yield* server
      const failing = (...others: ReadonlyArray<string>) =>
        Effect.flip(
          Mailer.Mailer.use(({ send }) => send({ to: ["ann@example.org", ...others], subject: "a", text: "b" }))
        )
      yield* Effect.gen(function*() {
        const { isPermanent, refused } = yield* failing("later@example.org", "Nobody <nobody@example.org>")
        assert.deepStrictEqual([isPermanent, refused], [false, ["later@example.org", "nobody@example.org"]])
        assert.isTrue((yield* failing("nobody@example.org")).isPermanent)
        const to = [{ name: "Eve, mallory@example.org", address: "eve@example.org" }, "bob@example.org"]
        const { send } = yield* Mailer.Mailer
        yield* send({ to, subject: "a", text: "b" })
        yield* send({ to, only: ["bob@example.org"], subject: "a", text: "b" })
      }).pipe(Effect.provide(Mailer.layerSmtp({ url, from })))
      assert.deepStrictEqual(received.map(({ to }) => to), [
        ["ann@example.org"],
        ["ann@example.org"],
        ["eve@example.org", "bob@example.org"],
        ["bob@example.org"]
      ])
      assert.include(received[3]?.source, "eve@example.org")
    }).pipe(Effect.scoped))

  it.effect("sends again to those alone for whom the server has not taken a mail", () =>
    Effect.gen(function*() {
      const sent: Array<ReadonlyArray<string> | undefined> = []
      const mailer = Layer.succeed(Mailer.Mailer, {
        send: ({ only }) => {
          sent.push(only)
          const refused = [["bob@example.org", "eve@example.org"], ["eve@example.org"]][sent.length - 1]
          return refused === undefined
            ? Effect.void
            : Effect.fail(new Mailer.MailFailed({ detail: "busy", isPermanent: false, refused }))
        }
      })
      yield* Effect.gen(function*() {
        const { idle, store } = yield* KernelEngine.make("mails").register(Mailer.sending).test()
        yield* Effect.provideService(
          Mailer.enqueue({ to: ["ann@example.org", "bob@example.org", "eve@example.org"], subject: "a", text: "b" }),
          DocumentStore.DocumentStore,
          store
        )
        yield* idle
        for (const _ of [1, 2, 3]) {
          yield* TestClock.adjust("1 minute")
          yield* idle
        }
        assert.deepStrictEqual(sent, [undefined, ["bob@example.org", "eve@example.org"], ["eve@example.org"]])
      }).pipe(Effect.scoped, Effect.provide(mailer))
    }))

  it.effect("sends once to the others where the server refuses a recipient for good, who is that of a dead letter", () =>
    Effect.gen(function*() {
      const sent: Array<string> = []
      const mailer = Layer.succeed(Mailer.Mailer, {
        send: ({ only = ["ann@example.org", "gone@example.org"] }) => {
          sent.push(...only)
          return Effect.fail(
            new Mailer.MailFailed({ detail: "no such mailbox", isPermanent: true, refused: ["gone@example.org"] })
          )
        }
      })
      yield* Effect.gen(function*() {
        const { idle, store } = yield* KernelEngine.make("mails").register(Mailer.sending).test()
        yield* Effect.provideService(
          Mailer.enqueue({ to: ["ann@example.org", "gone@example.org"], subject: "a", text: "b" }, { key: "k" }),
          DocumentStore.DocumentStore,
          store
        )
        yield* idle
        for (let i = 0; i < 20; i++) {
          yield* TestClock.adjust("5 minutes")
          yield* idle
        }
        assert.deepStrictEqual(sent.filter((to) => to.startsWith("ann")), ["ann@example.org"])
        const jobs = yield* store.find("QueuedJob", { sort: { _id: 1 } })
        assert.deepStrictEqual(jobs.map(({ attempts, key, state }) => ({ attempts, key, state })), [
          { attempts: 1, key: "k", state: "done" },
          { attempts: 10, key: "k.refused", state: "dead" }
        ])
        assert.include(jobs[1]?.["element"], `"only":["gone@example.org"]`)
      }).pipe(Effect.scoped, Effect.provide(mailer))
    }))

  it.effect("sends what is enqueued with a write, again after a failure, and nothing of a write that is rolled back", () =>
    Effect.gen(function*() {
      class Order extends Model.Class<Order>()("MailedOrder", { id: Model.id(), email: Schema.String }) {}
      const Orders = Resource.make(Order, { methods: ["POST"], transactional: true })
        .beforePost(({ email }) => Mailer.enqueue({ to: email, subject: "Your order", text: "Thanks" }))
      const sent = yield* Ref.make<ReadonlyArray<string>>([])
      let isDown = true
      const mailer = Layer.succeed(Mailer.Mailer, {
        send: ({ to }, { id } = {}) =>
          isDown
            ? Effect.fail(new Mailer.MailFailed({ detail: "down", isPermanent: false }))
            : Ref.update(sent, (all) => [...all, `${JSON.stringify(to)} ${id === undefined ? "" : "as a job"}`])
      })
      const engine = KernelEngine.make("mails").register(Orders, { name: "orders", segment: "orders" }).register(
        Mailer.sending
      )
      yield* Effect.gen(function*() {
        const { client, idle } = yield* engine.test()
        yield* client.orders.create({ payload: { email: "ann@example.org" } })
        yield* idle
        assert.deepStrictEqual(yield* Ref.get(sent), [])
        isDown = false
        yield* TestClock.adjust("1 second")
        yield* idle
        assert.deepStrictEqual(yield* Ref.get(sent), [`"ann@example.org" as a job`])
      }).pipe(Effect.scoped, Effect.provide(mailer))
    }))

  it.effect("refuses line breaks in addresses and subjects, by which texts would become headers", () =>
    Effect.gen(function*() {
      for (
        const mail of [
          { to: "ann@example.org\r\nBcc: eve@example.org", subject: "a" },
          { to: "ann@example.org", subject: "a\r\nBcc: eve@example.org" },
          { to: [], subject: "a\n" }
        ]
      ) {
        const exit = yield* Effect.exit(Mailer.enqueue({ ...mail, text: "b" }))
        assert.strictEqual(exit._tag, "Failure", JSON.stringify(mail))
      }
      const jobs = yield* Repository.for(Job.Queued)
      assert.strictEqual(yield* jobs.count(), 0)
    }).pipe(Effect.provide(Repository.layer(Job.Queued).pipe(Layer.provideMerge(EmbeddedStore.layerMemory)))))

  it("writes mails in a language, and escapes arguments in HTML", () => {
    const texts = new Map([
      ["mails.a.subject", (name: string) => `Hello ${name}`],
      ["mails.a.html", (name: string) => `<p>${name}</p>`]
    ])
    const language = {
      text: (key: string, args: { readonly [name: string]: unknown } = {}) => texts.get(key)?.(String(args["name"]))
    }
    assert.deepStrictEqual(Mailer.written(language, "mails.a", { name: "<b>&\r\nBcc: x" }), {
      subject: "Hello <b>& Bcc: x",
      html: "<p>&#60;b&#62;&#38;\r\nBcc: x</p>"
    })
    assert.deepStrictEqual(Mailer.written(undefined, "mails.a"), { subject: "mails.a" })
  })
})
