/** Files whose bytes can't be read, and other bodies that break off: their status says so, or the log does. */
import { assert, describe, it } from "@effect/vitest"
import { EmbeddedStore, FileStore, KernelEngine, Model } from "appkernel"
import { Effect, Layer, Logger, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

class Picture extends Model.Class<Picture>()("Picture", {
  id: Model.id({ prefix: "P" }),
  file: Model.file().pipe(Model.optional)
}) {}

const bytes = new TextEncoder().encode("first ")

const breaking = (path: `/${string}`, rest: Stream.Stream<Uint8Array, Error>) =>
  HttpRouter.add("GET", path, HttpServerResponse.stream(Stream.concat(Stream.make(bytes), rest)))

const engine = KernelEngine.make("pictures").register(Picture, { methods: ["GET", "POST", "PATCH"] })
  .use(HttpRouter.add("GET", "/failing", HttpServerResponse.stream(Stream.fail(new Error("at once")))))
  .use(breaking("/middle", Stream.fail(new Error("in the middle"))))
  .use(breaking("/dying", Stream.die(new Error("a defect"))))
  .use(breaking("/interrupted", Stream.fromEffect(Effect.interrupt)))
  .use(breaking("/whole", Stream.empty))
  .use(HttpRouter.add(
    "GET",
    "/measured",
    HttpServerResponse.stream(Stream.make(bytes), { headers: { "content-length": String(bytes.length) } })
  ))

const failed = (retryable: boolean) => new FileStore.FileStoreFailed({ operation: "read", detail: "away", retryable })

type Broken = Effect.Effect<never, FileStore.FileMissing | FileStore.FileStoreFailed>

/** A service whose store of files fails as it is told to. */
const started = Effect.gen(function*() {
  const logged: Array<string> = []
  const logger = Logger.make(({ cause, logLevel, message }) => {
    // A machine that has too much to do is told of, too.
    if (/broke off|handled|The store of files/u.test(String(message))) {
      logged.push(`${logLevel} ${String(message)} ${String(cause)}`)
    }
  })
  const files = yield* FileStore.makeMemory
  let isShortened = false
  let length: string | null = null
  let [atOnce, later]: ReadonlyArray<Broken | undefined> = []
  const store = FileStore.FileStore.of({
    ...files,
    stat: (id) => atOnce ?? files.stat(id),
    read: (id, range) => {
      const found = atOnce === undefined ? files.read(id, range) : Stream.fromEffect(atOnce)
      const read = isShortened ? Stream.map(found, (piece) => piece.subarray(1)) : found
      return later === undefined ? read : Stream.concat(Stream.take(read, 1), Stream.fromEffect(later))
    }
  })
  const { baseUrl } = yield* engine.test({
    store: Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, store))
  }).pipe(Effect.provide(Logger.layer([logger])))
  const send = (path: string, options: RequestInit = {}) =>
    Effect.promise(async () => {
      logged.length = 0
      try {
        const response = await fetch(`${baseUrl}${path}`, options)
        length = response.headers.get("content-length")
        return [response.status, await response.text()] as const
      } catch {
        return ["cut"] as const
      }
    })
  const created = yield* send("/pictures", {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" }
  })
  const path = `/pictures/${JSON.parse(created[1] ?? "").result}/file`
  const put = (body: string) => send(path, { method: "PUT", body, headers: { "content-type": "text/plain" } })
  assert.strictEqual((yield* put("a".repeat(100_000)))[0], 200)
  const fail = (first: Broken | undefined, then?: Broken) => {
    atOnce = first
    later = then
  }
  const shorten = () => {
    isShortened = true
  }
  return { fail, lengthOf: () => length, logged, path, put, send, shorten }
})

const asked: ReadonlyArray<readonly [string, RequestInit]> = [
  ["a GET", {}],
  ["a HEAD", { method: "HEAD" }],
  ["a range", { headers: { range: "bytes=0-9" } }],
  ["several ranges", { headers: { range: "bytes=0-9,50000-50009" } }]
]

describe("a body that can't be sent", () => {
  for (const [title, options] of asked) {
    it.effect(`is a 503 for ${title} while the store of files is away, and a 500 where the bytes are lost`, () =>
      Effect.gen(function*() {
        const { fail, logged, path, send } = yield* started
        fail(Effect.fail(failed(true)))
        assert.strictEqual((yield* send(path, options))[0], 503)
        assert.lengthOf(logged, 1)
        assert.match(logged[0] ?? "", /^Warn The store of files failed \(read\): away/u)
        for (const broken of [failed(false), new FileStore.FileMissing({ id: "a" })]) {
          fail(Effect.fail(broken))
          assert.strictEqual((yield* send(path, options))[0], 500)
          assert.lengthOf(logged, 1)
          assert.match(logged[0] ?? "", /^Error A request could not be handled/u)
          assert.include(logged[0], broken.message)
        }
        fail(undefined)
        assert.isBelow(Number((yield* send(path, options))[0]), 300)
        assert.lengthOf(logged, 0)
      }))
  }

  it.effect("is that of the new file where a write has replaced the one that was found", () =>
    Effect.gen(function*() {
      const { fail, logged, path, put, send } = yield* started
      let isReplaced = false
      fail(Effect.suspend(() => {
        const missing = Effect.fail(new FileStore.FileMissing({ id: "a" }))
        if (isReplaced) return missing
        isReplaced = true
        fail(undefined)
        return Effect.andThen(put("new"), missing)
      }))
      assert.deepStrictEqual(yield* send(path), [200, "new"])
      assert.lengthOf(logged, 0)
    }))

  it.effect("breaks off with the cause in the log where the store fails after the first bytes", () =>
    Effect.gen(function*() {
      const { fail, logged, path, send } = yield* started
      fail(undefined, Effect.fail(failed(true)))
      assert.deepStrictEqual(yield* send(path), ["cut"])
      assert.lengthOf(logged, 1)
      assert.match(logged[0] ?? "", /^Error The response to GET \/pictures\/[\w-]+\/file broke off .*away/su)
      // Whoever has a signed address may read the file.
      const [, signed] = yield* send(`${path}/address`, { method: "POST" })
      assert.deepStrictEqual(yield* send(JSON.parse(signed ?? "").href), ["cut"])
      assert.match(logged[0] ?? "", /^Error The response to GET \/pictures\/[\w-]+\/file\/signed\/ broke off .*away/su)
    }))

  it.effect("keeps the length that is only a header", () =>
    Effect.gen(function*() {
      const { lengthOf, send } = yield* started
      assert.deepStrictEqual(yield* send("/measured"), [200, "first "])
      assert.strictEqual(lengthOf(), "6")
    }))

  it.effect("is a 503 or a 500 where a short file breaks off, for it is sent as a whole", () =>
    Effect.gen(function*() {
      const { fail, logged, path, put, send } = yield* started
      assert.strictEqual((yield* put("short"))[0], 200)
      fail(undefined, Effect.fail(failed(true)))
      assert.strictEqual((yield* send(path))[0], 503)
      fail(undefined)
      assert.deepStrictEqual(yield* send(path), [200, "short"])
      assert.deepStrictEqual(yield* send(path, { headers: { range: "bytes=1-3" } }), [206, "hor"])
      assert.strictEqual((yield* put(""))[0], 200)
      assert.deepStrictEqual(yield* send(path), [200, ""])
      assert.lengthOf(logged, 0)
    }))

  it.effect("is a 500 where a short file has fewer bytes than were written", () =>
    Effect.gen(function*() {
      const { logged, path, put, send, shorten } = yield* started
      assert.strictEqual((yield* put("short"))[0], 200)
      shorten()
      assert.strictEqual((yield* send(path))[0], 500)
      assert.include(logged[0], "it has 4 bytes where 5 were written")
    }))

  it.effect("is logged for routes of HttpRouter, with its cause, unless it is interrupted", () =>
    Effect.gen(function*() {
      const { logged, send } = yield* started
      for (
        const [path, cause] of [["/failing", "at once"], ["/middle", "in the middle"], ["/dying", "a defect"]] as const
      ) {
        assert.deepStrictEqual(yield* send(`${path}?token=secret`), ["cut"])
        assert.lengthOf(logged, 1)
        assert.include(logged[0], `Error The response to GET ${path} broke off`)
        assert.include(logged[0], cause)
        assert.notInclude(logged[0], "secret")
      }
      assert.deepStrictEqual(yield* send("/interrupted"), ["cut"])
      assert.lengthOf(logged, 0)
      assert.deepStrictEqual(yield* send("/whole"), [200, "first "])
      assert.lengthOf(logged, 0)
    }))
})
