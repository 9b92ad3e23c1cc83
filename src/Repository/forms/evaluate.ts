/** Evaluates pipelines in the process, on documents that are read from the store and brought into another form. */
import { beginStep } from "@appkernel/document-store/internal"
import {
  type BatchIterator,
  emptyStep,
  ended,
  makeMemory,
  parseCollation,
  parsePipeline,
  rejected,
  toError
} from "@appkernel/mql"
import { isArray, normalise, plainValue } from "@appkernel/mql/values"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Collation, Document } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"

/** A pipeline's results on these documents. Text searches and stages on other collections are rejected. */
export const evaluated = (
  operation: string,
  source: Stream.Stream<Document, ReadError>,
  pipeline: ReadonlyArray<Document>,
  { collation, isTextSearch = false, reason }: {
    readonly collation?: Collation | undefined
    readonly isTextSearch?: boolean | undefined
    readonly reason: string
  }
): Stream.Stream<Document, ReadError> =>
  Stream.unwrap(
    Effect.withFiber((fiber) => {
      const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      const random = fiber.getRef(Random.Random)
      const transform = Result.flatMap(
        isTextSearch ? Result.fail(rejected(reason)) : Result.mapError(normalise({ pipeline }, true), rejected),
        ({ pipeline: stages }) =>
          Result.flatMap(parseCollation(collation), (collator) =>
            parsePipeline(isArray(stages) ? stages : [], {
              now,
              collator,
              random: () => random.nextDoubleUnsafe(),
              memory: makeMemory(),
              find: () => Result.fail(rejected(reason))
            }))
      )
      return Effect.succeed(
        Result.match(transform, {
          onFailure: (problem) => Stream.fail(toError(problem, operation)),
          onSuccess: (transform) => transformed(operation, source, transform)
        })
      )
    })
  )

// internal

const transformed = (
  operation: string,
  source: Stream.Stream<Document, ReadError>,
  transform: (source: BatchIterator) => BatchIterator
): Stream.Stream<Document, ReadError> =>
  Stream.transformPull(source, (pull) =>
    Effect.sync(() => {
      let waiting: ReadonlyArray<Document> | undefined
      let isEnded = false
      const next = transform(() => {
        const items = waiting
        waiting = undefined
        // Without items, the step is empty, and more are read before the next one.
        return items !== undefined ? Result.succeed(items) : isEnded ? ended : emptyStep
      })
      const read = Effect.matchCauseEffect(pull, {
        onSuccess: (items) =>
          Effect.sync(() => {
            waiting = items
          }),
        onFailure: (cause) =>
          Pull.isDoneCause(cause)
            ? Effect.sync(() => {
              isEnded = true
            })
            : Effect.failCause(cause)
      })
      const step: Effect.Effect<Arr.NonEmptyReadonlyArray<Document>, ReadError | Cause.Done> = Effect.suspend(() => {
        beginStep()
        const items = next()
        if (Result.isFailure(items)) return Effect.fail(toError(items.failure, operation))
        if (items.success === undefined) return Cause.done()
        const found = plainValue(items.success)
        if (Arr.isReadonlyArrayNonEmpty(found)) return Effect.succeed(found)
        return Effect.andThen(waiting === undefined && !isEnded ? read : Effect.yieldNow, step)
      })
      return step
    }))
