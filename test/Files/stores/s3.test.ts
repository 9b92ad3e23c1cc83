/** The store of files in S3: what all stores of files do, and what is particular to it, on a server that is not ours. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll } from "vitest"
import { FileStore } from "../../../src/index.ts"
import { startS3 } from "../../support/s3Server.ts"
import { fileStoreContract } from "../FileStore.contract.ts"

const server = await startS3()

const url = "url" in server ? server.url : undefined

afterAll(async () => {
  if ("url" in server) await server.stop()
})

const call = (method: string, path: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, { method })
    return { status: response.status, text: await response.text() }
  })

/** Options for a bucket of its own. */
const newBucket = Effect.gen(function*() {
  const bucket = `b-${crypto.randomUUID()}`
  assert.strictEqual((yield* call("PUT", `/${bucket}`)).status, 200)
  return { ...credentials, endpoint: url ?? "", bucket, prefix: "files/" }
})

const credentials = { accessKeyId: Redacted.make("key"), secretAccessKey: Redacted.make("the-secret") }

const mebi = 1024 * 1024

const pieces = (count: number) => Stream.map(Stream.range(1, count), (i) => new Uint8Array(mebi).fill(i))

if (url !== undefined) {
  fileStoreContract("S3", Layer.unwrap(Effect.map(newBucket, (options) => FileStore.layerS3(options))))
}

describe.skipIf(url === undefined)("FileStore in S3", () => {
  it.live("writes a long content in parts, reads any of it, and takes no part of one that fails", () =>
    Effect.gen(function*() {
      const options = yield* newBucket
      const files = yield* FileStore.makeS3({ ...options, partSize: "5 MiB" })
      const { id, size } = yield* files.put(pieces(17))
      assert.strictEqual(size, 17 * mebi)
      const whole = Buffer.concat(yield* Stream.runCollect(files.read(id)))
      assert.deepStrictEqual(
        [whole.length, whole[0], whole[7 * mebi], whole.at(-1)],
        [size, 1, 8, 17]
      )
      const across = Buffer.concat(yield* Stream.runCollect(files.read(id, { offset: 5 * mebi - 1, length: 2 })))
      assert.strictEqual(across.toString("hex"), "0506")
      assert.strictEqual((yield* files.stat(id)).size, size)

      const cut = Stream.concat(pieces(12), Stream.fail("gone" as const))
      assert.strictEqual(yield* Effect.flip(files.put(cut)), "gone")
      assert.strictEqual((yield* Effect.flip(files.put(pieces(12), { maxSize: 11 * mebi })))._tag, "FileTooLarge")
      const uploads = yield* call("GET", `/${options.bucket}?uploads`)
      assert.notInclude(uploads.text, "<Upload>")
      const all = yield* Stream.runCollect(files.entries)
      assert.deepStrictEqual(all.map((entry) => entry.id), [id])
    }))

  it.live("finds the uploads of a process that was killed, and removes them", () =>
    Effect.gen(function*() {
      const options = yield* newBucket
      const files = yield* FileStore.makeS3(options)
      const id = "0".repeat(32)
      yield* call("POST", `/${options.bucket}/files/${id}?uploads`)
      yield* call("PUT", `/${options.bucket}/elsewhere`)
      const [entry, ...others] = yield* Stream.runCollect(files.entries)
      assert.deepStrictEqual([entry?.id, entry?.size, others], [id, 0, []])
      yield* files.remove([id])
      assert.deepStrictEqual(yield* Stream.runCollect(files.entries), [])
    }))

  it.live("knows of an upload that goes on what has come, and when", () =>
    Effect.gen(function*() {
      const options = yield* newBucket
      const files = yield* FileStore.makeS3({ ...options, partSize: "5 MiB" })
      const [isFirst, isSeen] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = Stream.concat(
        Stream.concat(pieces(11), Stream.drain(Stream.fromEffect(Deferred.succeed(isFirst, undefined)))),
        Stream.drain(Stream.fromEffect(Deferred.await(isSeen)))
      )
      const writing = yield* Effect.forkChild(files.put(slow))
      yield* Deferred.await(isFirst)
      const before = yield* DateTime.now
      const [entry] = yield* Stream.runCollect(files.entries)
      assert.strictEqual(entry?.size, 10 * mebi)
      assert.isBelow(Math.abs(before.epochMilliseconds - (entry?.modified.epochMilliseconds ?? 0)), 60_000)
      yield* Deferred.succeed(isSeen, undefined)
      const { id, sha256 } = yield* Fiber.join(writing)
      assert.strictEqual(entry?.id, id)
      const whole = Buffer.concat(yield* Stream.runCollect(files.read(id)))
      assert.strictEqual(createHash("sha256").update(whole).digest("hex"), sha256)
    }))

  it.live("removes the hold of a process that is gone for good", () =>
    Effect.gen(function*() {
      const options = yield* newBucket
      const files = yield* FileStore.makeS3(options)
      const now = yield* DateTime.now
      const held = (name: string, hours: number) =>
        Effect.promise(() =>
          fetch(`${url}/${options.bucket}/files/holds/${name.repeat(32)}`, {
            method: "PUT",
            body: String(now.epochMilliseconds - hours * 3_600_000)
          })
        )
      yield* held("a", 1)
      yield* held("b", 48)
      assert.isFalse(yield* files.isHeld)
      const { text } = yield* call("GET", `/${options.bucket}?list-type=2`)
      assert.include(text, "/holds/aa")
      assert.notInclude(text, "/holds/bb")
    }))

  it.live("lists more objects than one answer has", () =>
    Effect.gen(function*() {
      const options = yield* newBucket
      const files = yield* FileStore.makeS3(options)
      const ids = Array.from({ length: 1_050 }, (_, i) => i.toString(16).padStart(32, "0"))
      yield* Effect.forEach(ids, (id) => call("PUT", `/${options.bucket}/files/${id}`), { concurrency: 16 })
      const found = yield* Stream.runCollect(files.entries)
      assert.deepStrictEqual(found.map((entry) => entry.id).toSorted(), ids)
    }), 60_000)

  it.live("takes no name that another content has", () =>
    Effect.gen(function*() {
      const files = yield* FileStore.makeS3(yield* newBucket)
      const { id } = yield* files.put(Stream.make(new Uint8Array([1])))
      const again = yield* Effect.flip(files.put(Stream.make(new Uint8Array([2])), { id }))
      assert.deepInclude(again, { _tag: "FileStoreFailed", detail: "412 PreconditionFailed" })
      assert.strictEqual(Buffer.concat(yield* Stream.runCollect(files.read(id))).toString("hex"), "01")
    }))

  it.live("writes below any prefix, and nowhere else", () =>
    Effect.gen(function*() {
      const options = yield* newBucket
      for (const prefix of ["shop#1/", "a?b/", "a+b/", "a b&c=%41/", "é/", "<a>'\"&lt;/"]) {
        const files = yield* FileStore.makeS3({ ...options, prefix })
        const { id } = yield* files.put(Stream.make(new Uint8Array([1])))
        const { id: other } = yield* files.put(Stream.make(new Uint8Array([2])))
        const [entries, bytes] = yield* Effect.all([
          Stream.runCollect(files.entries),
          Stream.runCollect(files.read(id))
        ])
        assert.deepStrictEqual(entries.map((entry) => entry.id).toSorted(), [id, other].toSorted(), prefix)
        assert.strictEqual(Buffer.concat(bytes).toString("hex"), "01", prefix)
      }
    }))

  it.effect("has no prefix that leads elsewhere", () =>
    Effect.gen(function*() {
      for (const prefix of ["..", "a/../b/", "./"]) {
        const options = { ...credentials, endpoint: "http://127.0.0.1:1", bucket: "b", prefix }
        assert.match(String(yield* Effect.exit(FileStore.makeS3(options))), /DeclarationError: The prefix/u)
      }
      yield* FileStore.makeS3({ ...credentials, endpoint: "http://127.0.0.1:1", bucket: "b", prefix: "a..b/.c/" })
    }))

  it.live("says what a service refuses, and never a secret", () =>
    Effect.gen(function*() {
      const files = yield* FileStore.makeS3({ ...(yield* newBucket), bucket: "missing" })
      const failure = yield* Effect.flip(files.put(Stream.make(new Uint8Array(1))))
      assert.deepInclude(failure, { _tag: "FileStoreFailed", detail: "404 NoSuchBucket", retryable: false })
      assert.notInclude(JSON.stringify([failure, files.description]), "secret")
    }))
})

describe("FileStore in a service that is like S3", () => {
  /** What a service answers to each request. */
  const service = (answer: (method: string, conditional: boolean) => number) =>
    Effect.acquireRelease(
      Effect.promise(() => {
        const seen: Array<string> = []
        const listening = createServer((request, response) => {
          const isConditional = request.headers["if-none-match"] !== undefined
          seen.push(`${request.method} ${isConditional}`)
          request.resume().on("end", () => response.writeHead(answer(request.method ?? "", isConditional)).end())
        })
        return new Promise<{ readonly seen: Array<string>; readonly endpoint: string; readonly close: () => void }>(
          (resolve) => {
            listening.listen(0, "127.0.0.1", () => {
              const { port } = listening.address() as AddressInfo
              resolve({ seen, endpoint: `http://127.0.0.1:${port}`, close: () => listening.close() })
            })
          }
        )
      }),
      ({ close }) => Effect.sync(close)
    )

  it.live("writes without conditions where these are not known", () =>
    Effect.gen(function*() {
      const { endpoint, seen } = yield* service((_, isConditional) => isConditional ? 501 : 200)
      const files = yield* FileStore.makeS3({ ...credentials, endpoint, bucket: "b" })
      yield* files.put(Stream.make(new Uint8Array(1)))
      yield* files.put(Stream.make(new Uint8Array(1)))
      assert.deepStrictEqual(seen.filter((line) => line.endsWith("true")).length > 0, true)
      assert.strictEqual(seen.at(-1), "PUT false")
    }))

  /** A store in a service that answers all requests by this text. */
  const answering = (status: number, text: string, prefix = "") =>
    Effect.gen(function*() {
      const server = createServer((request, response) => {
        request.resume().on("end", () => response.writeHead(status).end(text))
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => server.close())
      )
      const { port } = server.address() as AddressInfo
      return yield* FileStore.makeS3({ ...credentials, endpoint: `http://127.0.0.1:${port}`, bucket: "b", prefix })
    })

  it.live("says which refusals pass", () =>
    Effect.gen(function*() {
      const codes = [
        [400, "RequestTimeout", true],
        [403, "RequestTimeTooSkewed", true],
        [409, "ConditionalRequestConflict", true],
        [409, "OperationAborted", true],
        [409, "BucketNotEmpty", false],
        [403, "AccessDenied", false]
      ] as const
      for (const [status, code, retryable] of codes) {
        const files = yield* answering(status, `<Error><Code>${code}</Code></Error>`)
        const failure = yield* Effect.flip(files.put(Stream.make(new Uint8Array(1))))
        assert.deepInclude(failure, { detail: `${status} ${code}`, retryable })
      }
    }))

  it.live("knows the names of its objects however they are escaped", () =>
    Effect.gen(function*() {
      const id = "0".repeat(32)
      const listed = (key: string) =>
        `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>${key}${id}</Key></Contents></ListBucketResult>`
      const escaped = "&lt;&gt;&apos;&quot;&amp;lt;&#39;&#xe9;&#x1F600;&#9999999;&no;/"
      const files = yield* answering(200, listed(escaped), "<>'\"&lt;'é😀&#9999999;&no;/")
      assert.deepStrictEqual((yield* Stream.runCollect(files.entries)).map((entry) => entry.id), [id])
    }))

  it.live("finds what it has written itself where the answer was lost, and refuses what another one has", () =>
    Effect.gen(function*() {
      let stored = Buffer.alloc(0)
      let lost = 0
      const listening = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((request, response) => {
            const chunks: Array<Buffer> = []
            request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
              if (request.method === "GET") response.writeHead(200).end(stored)
              else if (stored.length > 0) response.writeHead(412).end("<Code>PreconditionFailed</Code>")
              else {
                stored = Buffer.concat(chunks)
                lost++
                response.writeHead(503).end()
              }
            })
          })
          server.listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      const { port } = listening.address() as AddressInfo
      const files = yield* FileStore.makeS3({ ...credentials, endpoint: `http://127.0.0.1:${port}`, bucket: "b" })
      const { sha256 } = yield* files.put(Stream.make(new Uint8Array([1, 2])))
      assert.strictEqual(sha256, createHash("sha256").update(stored).digest("hex"))
      assert.strictEqual(lost, 1)
      const other = yield* Effect.flip(files.put(Stream.make(new Uint8Array([1, 3]))))
      assert.deepInclude(other, { _tag: "FileStoreFailed", detail: "412 PreconditionFailed" })
    }))

  it.live("is asked again where it is busy, and gives up with a failure that a retry may mend", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* service(() => 503)
      const files = yield* FileStore.makeS3({ ...credentials, endpoint, bucket: "b" })
      const exit = yield* Effect.exit(files.stat("0".repeat(32)))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual((yield* Effect.flip(files.stat("0".repeat(32))))._tag, "FileStoreFailed")
      const gone = yield* FileStore.makeS3({ ...credentials, endpoint: "http://127.0.0.1:1", bucket: "b" })
      assert.deepInclude(yield* Effect.flip(gone.stat("0".repeat(32))), { retryable: true })
    }))
})
