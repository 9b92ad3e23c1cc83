import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, type FileSystem, Schema, type Scope, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { type UploadBody, uploadBody, type UploadFile } from "../../../src/Client/files/uploadBody.ts"
import { ReadOnce } from "../../../src/internal/readOnce.ts"
import { freshDirectory } from "../../support/folders.ts"

const part = { filename: "a.bin", contentType: "application/pdf" }
const bytes = (text: string) => new TextEncoder().encode(text)

/** All that the body has, as the Fetch API reads it. */
const sentBy = <E>({ body }: UploadBody<E>) =>
  Effect.gen(function*() {
    const whole = Buffer.concat(yield* Effect.orDie(Stream.runCollect(body.stream)))
    if (body.contentLength !== undefined) assert.strictEqual(whole.length, body.contentLength)
    const form = yield* Effect.promise(() =>
      new Response(new Uint8Array(whole), { headers: { "content-type": body.contentType } }).formData()
    )
    assert.deepStrictEqual([...form.keys()], ["file"])
    const file = form.get("file")
    assert.instanceOf(file, File)
    return {
      name: file.name,
      type: file.type,
      content: new Uint8Array(yield* Effect.promise(() => file.arrayBuffer()))
    }
  })

const kinds: ReadonlyArray<
  readonly [
    kind: string,
    isSized: boolean,
    isRepeatable: boolean,
    file: (content: Uint8Array<ArrayBuffer>, folder: string) => UploadFile<never, never>
  ]
> = [
  ["bytes", true, true, (content) => content],
  ["a Blob", true, true, (content) => new Blob([content])],
  ["a File", true, true, (content) => new File([content], "other.txt", { type: "text/plain" })],
  ["a path", true, true, (content, folder) => {
    const file = path.join(folder, "file")
    fs.writeFileSync(file, content)
    return file
  }],
  ["a Stream", false, true, (content) => Stream.rechunk(Stream.make(content.subarray(0, 7), content.subarray(7)), 1)],
  ["a ReadableStream", false, false, (content) => new Blob([content]).stream()]
]

describe("the body of an upload", () => {
  it.effect.each(kinds)(
    "is made of %s, with its length if that is known",
    ([, isSized, isRepeatable, fileOf]) =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const content = crypto.getRandomValues(new Uint8Array(50_000))
        const made = yield* uploadBody(fileOf(content, folder), part)
        assert.strictEqual(made.body.contentLength !== undefined, isSized)
        const expected = { name: part.filename, type: part.contentType, content }
        assert.deepStrictEqual(yield* sentBy(made), expected)
        if (isRepeatable) assert.deepStrictEqual(yield* sentBy(made), expected)
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect.prop(
    "says the name and the type, whatever they are, and nothing else",
    [Schema.Array(
      Schema.Union([Schema.String, Schema.Literals(["\"", "\r", "\n", "\\", ";", "%22", "é", "😀", "\0"])])
    )],
    ([pieces]) =>
      Effect.gen(function*() {
        const text = pieces.join("").toWellFormed()
        const { content, name, type } = yield* sentBy(
          yield* uploadBody(bytes("content"), { filename: text, contentType: text })
        )
        assert.deepStrictEqual(content, bytes("content"))
        // The form's own escapes can't be told from the same text, which a name may have.
        const escaped = text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll("\"", "%22")
        assert.strictEqual(
          name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll("\"", "%22"),
          escaped
        )
        if (/[^\t -~]/u.test(text)) assert.strictEqual(type, "application/octet-stream")
      }).pipe(Effect.provide(NodeServices.layer)),
    { arbitrary: { runs: 200 } }
  )

  it.effect("fails before anything is sent where the file can't be opened", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const reasonOf = (file: string) =>
        Effect.map(Effect.flip(uploadBody(path.join(folder, file), part)), ({ reason }) => reason._tag)
      assert.strictEqual(yield* reasonOf("none"), "NotFound")
      assert.strictEqual(yield* reasonOf(""), "BadResource")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("has the bytes that the file had when it was opened, and stops where it has become shorter", () =>
    Effect.gen(function*() {
      const file = path.join(yield* freshDirectory, "file")
      fs.writeFileSync(file, "12345")
      const grown = yield* uploadBody(file, part)
      fs.appendFileSync(file, "678")
      assert.deepStrictEqual((yield* sentBy(grown)).content, bytes("12345"))
      const shrunk = yield* uploadBody(file, part)
      fs.truncateSync(file, 3)
      assert.strictEqual(
        String(yield* failureOf(shrunk)),
        `PlatformError: UnexpectedEof: FileSystem.upload (${file}): it has become shorter than its 8 bytes`
      )
      fs.truncateSync(file, 0)
      const empty = yield* uploadBody(file, part)
      assert.deepStrictEqual((yield* sentBy(empty)).content, bytes(""))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect.skipIf(process.platform !== "linux")("reads files of no size to their end", () =>
    Effect.gen(function*() {
      const made = yield* uploadBody("/proc/self/status", part)
      assert.isUndefined(made.body.contentLength)
      assert.match(Buffer.from((yield* sentBy(made)).content).toString(), /^Name:/u)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("stops without an end where the stream fails, which fails with the stream's own failure", () =>
    Effect.gen(function*() {
      const half = <E>(end: Effect.Effect<never, E>) =>
        Effect.flatMap(uploadBody(Stream.concat(Stream.make(bytes("half")), Stream.fromEffect(end)), part), failureOf)
      assert.strictEqual(yield* half(Effect.fail("lost" as const)), "lost")
      const died = yield* Effect.exit(half(Effect.die("bug")))
      assert.isTrue(Exit.hasDies(died))
      const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("broken")) })
      const failure = yield* Effect.flatMap(uploadBody(broken, part), failureOf)
      assert.instanceOf(failure, Cause.UnknownError)
      const once = yield* uploadBody(new Blob(["x"]).stream(), part)
      yield* sentBy(once)
      // The client says what that means.
      assert.instanceOf(yield* Effect.flip(Stream.runDrain(once.body.stream)), ReadOnce)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("gives a stream the services that the upload was given", () =>
    Effect.gen(function*() {
      class Greeting extends Context.Service<Greeting, string>()("Greeting") {}
      const made: Effect.Effect<UploadBody<never>, never, Greeting | FileSystem.FileSystem | Scope.Scope> = uploadBody(
        Stream.fromEffect(Effect.map(Greeting, bytes)),
        part
      )
      const { content } = yield* sentBy(yield* Effect.provideService(made, Greeting, "hello"))
      assert.deepStrictEqual(content, bytes("hello"))
    }).pipe(Effect.provide(NodeServices.layer)))
})

/** How reading fails while the body is sent; the body itself neither fails nor ends. */
const failureOf = <E>({ body, readFailure }: UploadBody<E>): Effect.Effect<E> =>
  Effect.gen(function*() {
    const sending = yield* Effect.forkChild(Stream.runDrain(body.stream))
    const failure = yield* Effect.flip(readFailure)
    assert.isUndefined(sending.pollUnsafe())
    yield* Fiber.interrupt(sending)
    return failure
  })
