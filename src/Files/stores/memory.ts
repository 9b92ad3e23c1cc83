/** Files in memory, which end with the process. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { FileMissing } from "../port/errors.ts"
import type { Service } from "../port/service.ts"
import { endOf, putting } from "./contents.ts"

export const makeMemoryFiles: Effect.Effect<Service> = Effect.sync(() => {
  const files = new Map<string, { readonly bytes: Uint8Array; readonly modified: DateTime.Utc }>()
  let holds = 0
  const found = (id: string) =>
    Effect.suspend(() => {
      const file = files.get(id)
      return file === undefined ? Effect.fail(new FileMissing({ id })) : Effect.succeed(file)
    })
  return {
    description: "files in memory",
    put: putting(<E, R>(id: string, content: Stream.Stream<Uint8Array, E, R>) =>
      Effect.gen(function*() {
        // A copy, since who made the piece may write to it again.
        const pieces = yield* Stream.runCollect(Stream.map(content, (piece) => piece.slice()))
        const modified = yield* DateTime.now
        const bytes = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0))
        let at = 0
        for (const piece of pieces) {
          bytes.set(piece, at)
          at += piece.length
        }
        files.set(id, { bytes, modified })
      })
    ),
    read: (id, range = everything) =>
      Stream.unwrap(Effect.map(found(id), ({ bytes }) => {
        const end = endOf(range, bytes.length)
        return Stream.unfold(range.offset, (at) => {
          const next = Math.min(at + pieceSize, end)
          // A copy, since nobody may change what is kept.
          return Effect.succeed(at < end ? [bytes.slice(at, next), next] as const : undefined)
        })
      })),
    stat: (id) => Effect.map(found(id), ({ bytes, modified }) => ({ size: bytes.length, modified })),
    remove: (ids) =>
      Effect.sync(() => {
        for (const id of ids) files.delete(id)
      }),
    entries: Stream.suspend(() =>
      Stream.fromIterable(
        Array.from(files, ([id, { bytes, modified }]) => ({ id, size: bytes.length, modified }))
      )
    ),
    hold: Effect.acquireRelease(
      Effect.sync(() => {
        holds++
      }),
      () =>
        Effect.sync(() => {
          holds--
        })
    ),
    isHeld: Effect.sync(() => holds > 0)
  }
})

// internal

const everything = { offset: 0, length: Infinity }

const pieceSize = 64 * 1024
