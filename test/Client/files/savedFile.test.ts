import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Random, Result, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { destinationOf, saveFile } from "../../../src/Client/files/savedFile.ts"
import { freshDirectory } from "../../support/folders.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("the destination of a download", () => {
  it.effect("is a folder that exists, or a file in one", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "file"), "")
      assert.deepStrictEqual(yield* destinationOf(folder), { folder, name: undefined })
      assert.deepStrictEqual(yield* destinationOf(`${folder}/`), { folder, name: undefined })
      assert.deepStrictEqual(yield* destinationOf(path.join(folder, "file")), { folder, name: "file" })
      assert.deepStrictEqual(yield* destinationOf(path.join(folder, "new.txt")), { folder, name: "new.txt" })
      const relative = path.relative(process.cwd(), path.join(folder, "a"))
      assert.deepStrictEqual(yield* destinationOf(relative), { folder, name: "a" })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("is refused where no folder is", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "file"), "")
      const reasonOf = (dest: string) =>
        Effect.map(Effect.flip(destinationOf(path.join(folder, dest))), ({ reason }) => reason._tag)
      assert.strictEqual(yield* reasonOf("none/"), "NotFound")
      assert.strictEqual(yield* reasonOf("none/new.txt"), "NotFound")
      assert.strictEqual(yield* reasonOf("file/"), "BadResource")
      assert.strictEqual(yield* reasonOf("file/new.txt"), "BadResource")
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("a file that is saved", () => {
  it.effect("has the bytes of the stream, in the place of an earlier file, and a name of 255 bytes", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const name = "a".repeat(255)
      for (const text of ["first", "second"]) {
        const saved = yield* saveFile(folder, name, Stream.make(bytes(text), bytes(""), bytes("!")))
        assert.strictEqual(saved, path.join(folder, name))
        assert.strictEqual(fs.readFileSync(saved, "utf8"), `${text}!`)
      }
      assert.deepStrictEqual(fs.readdirSync(folder), [name])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("does not exist before it is complete, and leaves nothing where the stream fails or nothing can be written", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "a"), "earlier")
      fs.mkdirSync(path.join(folder, "folder"))
      const before = ["a", "folder"]
      const failing = Stream.concat(
        Stream.make(bytes("half")),
        Stream.fromEffect(Effect.suspend(() => {
          assert.lengthOf(fs.readdirSync(folder), 3)
          return Effect.fail("lost")
        }))
      )
      assert.strictEqual(yield* Effect.flip(saveFile(folder, "a", failing)), "lost")
      const notWritten = (name: string) => Effect.result(saveFile(folder, name, Stream.succeed(bytes("x"))))
      assert.isTrue(Result.isFailure(yield* notWritten("folder")))
      assert.isTrue(Result.isFailure(yield* notWritten("none/a")))
      assert.deepStrictEqual(fs.readdirSync(folder), before)
      assert.strictEqual(fs.readFileSync(path.join(folder, "a"), "utf8"), "earlier")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("is whole or not there, whenever one of many is interrupted", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const content = "x".repeat(1_000)
      const slow = Stream.fromIterable(Array.from({ length: 10 }, () => bytes("x".repeat(100)))).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.yieldNow)
      )
      yield* Effect.forEach(
        Array.from({ length: 300 }, (_, i) => i),
        (i) =>
          Effect.gen(function*() {
            const begun = yield* Deferred.make<void>()
            const fiber = yield* Effect.forkChild(
              Effect.andThen(Deferred.succeed(begun, undefined), saveFile(folder, `f${i}`, slow))
            )
            yield* Deferred.await(begun)
            if (i % 5 === 0) yield* Fiber.join(fiber)
            else yield* Effect.sleep(yield* Random.nextIntBetween(0, 40))
            yield* Fiber.interrupt(fiber)
          }),
        { concurrency: 20 }
      )
      const names = fs.readdirSync(folder)
      assert.deepStrictEqual(names.filter((name) => name.startsWith(".")), [])
      for (const name of names) assert.strictEqual(fs.readFileSync(path.join(folder, name), "utf8"), content)
      assert.isAtLeast(names.length, 60)
    }).pipe(Effect.provide(NodeServices.layer)))
})
