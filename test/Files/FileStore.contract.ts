import { assert, it as tests } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, type Layer, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { FileStore } from "../../src/index.ts"

/** What every store of files does. Each time the layer is built, its store is empty. */
export const fileStoreContract = (name: string, layer: Layer.Layer<FileStore.FileStore>): void => {
  tests.layer(layer)(`FileStore / ${name}`, (it) => {
    it.effect.prop(
      "gives back what was put in whichever pieces, with its size and checksum, and any part of it",
      [Contents, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 })), Length],
      ([pieces, offset, length]) =>
        Effect.gen(function*() {
          const files = yield* FileStore.FileStore
          const contents = pieces.map(bytesOf)
          const all = Buffer.concat(contents)
          // Who made a piece may write to it again.
          const reused = Stream.flatMap(Stream.fromIterable(contents), (piece) => {
            const buffer = Uint8Array.from(piece)
            return Stream.concat(
              Stream.make(buffer),
              Stream.drain(Stream.fromEffect(Effect.sync(() => buffer.fill(0))))
            )
          })
          const { id, sha256, size } = yield* files.put(reused)
          assert.match(id, /^[\w-]{22,}$/u)
          assert.strictEqual(size, all.length)
          assert.strictEqual(sha256, createHash("sha256").update(all).digest("hex"))
          assert.isTrue(all.equals(yield* bytesIn(files.read(id))))
          const part = yield* bytesIn(files.read(id, { offset, length }))
          assert.isTrue(all.subarray(offset, offset + length).equals(part))
          assert.strictEqual((yield* files.stat(id)).size, all.length)
          yield* files.remove([id])
          assert.strictEqual((yield* Effect.flip(files.stat(id)))._tag, "FileMissing")
        }),
      { arbitrary: { runs: 40 } }
    )

    it.effect("refuses what is longer than its limit, and keeps nothing of it", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        const before = yield* idsIn(files)
        const content = Stream.make(new Uint8Array(6), new Uint8Array(5))
        const error = yield* Effect.flip(files.put(content, { maxSize: 10 }))
        assert.deepInclude(error, { _tag: "FileTooLarge", limit: 10 })
        assert.deepStrictEqual(yield* idsIn(files), before)
        const { id, size } = yield* files.put(content, { maxSize: 11 })
        assert.strictEqual(size, 11)
        yield* files.remove([id])
      }))

    it.effect("keeps nothing of a content that fails, and fails as it does", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        const before = yield* idsIn(files)
        const content = Stream.concat(Stream.make(new Uint8Array(100_000)), Stream.fail("the caller went" as const))
        assert.strictEqual(yield* Effect.flip(files.put(content)), "the caller went")
        assert.deepStrictEqual(yield* idsIn(files), before)
      }))

    it.effect("keeps nothing of a content that is interrupted midway, which nobody reads meanwhile", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        const before = yield* idsIn(files)
        const isMidway = yield* Deferred.make<void>()
        const content = Stream.concat(
          Stream.make(new Uint8Array(100_000)),
          Stream.fromEffect(Effect.andThen(Deferred.succeed(isMidway, undefined), Effect.never))
        )
        const putting = yield* Effect.forkChild(files.put(content))
        yield* Deferred.await(isMidway)
        for (const id of (yield* idsIn(files)).filter((one) => !before.includes(one))) {
          assert.strictEqual((yield* Effect.flip(files.stat(id)))._tag, "FileMissing")
        }
        yield* Fiber.interrupt(putting)
        assert.deepStrictEqual(yield* idsIn(files), before)
      }))

    it.effect("keeps what it has under an identifier though another copy of it fails", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        const { id } = yield* files.put(Stream.make(new Uint8Array(5).fill(7)))
        const before = yield* idsIn(files)
        const content = Stream.concat(Stream.make(new Uint8Array(2).fill(7)), Stream.fail("the source broke" as const))
        assert.strictEqual(yield* Effect.flip(files.put(content, { id })), "the source broke")
        assert.deepStrictEqual(Array.from(yield* bytesIn(files.read(id))), [7, 7, 7, 7, 7])
        assert.deepStrictEqual(yield* idsIn(files), before)
        yield* files.remove([id])
      }))

    it.effect("has no file under what is no identifier of its own, wherever it points to", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        const { id } = yield* files.put(Stream.make(new Uint8Array(3)))
        const names = [
          "",
          ".",
          "..",
          "../x",
          "incoming",
          `../${id}`,
          `${id}/`,
          `${id}\0`,
          `${id}/../${id}`,
          `/etc/passwd`
        ]
        for (
          const other of [
            ...names,
            id.toUpperCase() === id ? "x" : id.toUpperCase(),
            "0".repeat(32),
            "é",
            "x".repeat(9000)
          ]
        ) {
          assert.strictEqual((yield* Effect.flip(files.stat(other)))._tag, "FileMissing", other)
          assert.strictEqual((yield* Effect.flip(Stream.runDrain(files.read(other))))._tag, "FileMissing", other)
        }
        yield* files.remove(names)
        assert.strictEqual((yield* files.stat(id)).size, 3)
        yield* files.remove([id])
      }))

    it.effect("lists what it has with sizes and times, and removes a file once and again", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        const [one, other] = yield* Effect.all([1, 2].map((n) => files.put(Stream.make(new Uint8Array(n)))))
        assert.isDefined(one)
        assert.isDefined(other)
        const entries = yield* Stream.runCollect(files.entries)
        const { modified, size } = yield* files.stat(other.id)
        assert.deepStrictEqual(entries.filter(({ id }) => id === other.id), [{ id: other.id, modified, size }])
        assert.isTrue(DateTime.isDateTime(modified))
        yield* files.remove([one.id, other.id, one.id])
        yield* files.remove([one.id])
        assert.deepStrictEqual(yield* idsIn(files), [])
      }))

    it.effect("takes and gives back many at once, some of which are removed meanwhile", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        yield* Effect.forEach(Array.from({ length: 64 }, (_, n) => n), (n) =>
          Effect.gen(function*() {
            const content = Buffer.alloc(1 + n * 3001, n)
            const { id } = yield* files.put(Stream.rechunk(Stream.fromIterable([content, content]), 1))
            assert.isTrue(Buffer.concat([content, content]).equals(yield* bytesIn(files.read(id))))
            yield* files.remove([id])
          }), { concurrency: 16, discard: true })
        assert.deepStrictEqual(yield* idsIn(files), [])
      }))

    it.effect("is held until the last who asked for it is done", () =>
      Effect.gen(function*() {
        const files = yield* FileStore.FileStore
        yield* Effect.scoped(Effect.gen(function*() {
          yield* files.hold
          yield* Effect.scoped(files.hold)
          assert.isTrue(yield* files.isHeld)
        }))
        assert.isFalse(yield* files.isHeld)
      }))
  })
}

// internal

/** The lengths of the pieces of a content, and what they begin with. */
const Contents = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 90_000 }))
).check(Schema.isMaxLength(6))

const Length = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 }))

const bytesOf = (length: number, seed: number): Uint8Array =>
  Buffer.alloc(length, Uint8Array.from({ length: 251 }, (_, i) => (i * 31 + seed * 7) % 256))

const bytesIn = <E>(content: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(content), (pieces) => Buffer.concat(pieces))

const idsIn = (files: FileStore.Service) =>
  Effect.map(Stream.runCollect(files.entries), (entries) => entries.map(({ id }) => id).toSorted())
