/** Pipelines over documents that somebody gives, in steps between which other fibers run. */
import { beginStep } from "@appkernel/document-store/internal"
import type { CollationOptions, Document } from "@appkernel/document-store/StoreTypes"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { normalise } from "../bson/normalise.ts"
import { plainValue } from "../bson/plainDocument.ts"
import { isArray } from "../bson/value.ts"
import { type BatchIterator, emptyStep, ended } from "../execution/batchIterator.ts"
import { type QueryFailure, queryProblem, toError } from "../limits/queryProblem.ts"
import { makeMemory } from "../limits/sizeLimits.ts"
import { parseCollation } from "../text/collation.ts"
import { parsePipeline } from "./pipeline.ts"

/**
 * The results of an aggregation pipeline on documents. Text searches and stages on collections are rejected, with `elsewhere`
 * as the reason. `operation` is how errors call what failed. Holds 100 MiB for all stages at most.
 *
 * @category evaluation
 * @since 0.1.0
 */
export const aggregate = <E>(
  source: Stream.Stream<Document, E>,
  pipeline: ReadonlyArray<Document>,
  { collation, elsewhere = "the pipeline has no collections", isTextSearch = false, operation = "aggregate" }:
    & CollationOptions
    & {
      readonly elsewhere?: string | undefined
      readonly isTextSearch?: boolean | undefined
      readonly operation?: string | undefined
    } = {}
): Stream.Stream<Document, E | QueryFailure> =>
  Stream.unwrap(
    Effect.withFiber((fiber) => {
      const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      const random = fiber.getRef(Random.Random)
      const transform = Result.flatMap(
        isTextSearch
          ? Result.fail(queryProblem(elsewhere))
          : Result.mapError(normalise({ pipeline }, true), queryProblem),
        ({ pipeline: stages }) =>
          Result.flatMap(parseCollation(collation), (collator) =>
            parsePipeline(isArray(stages) ? stages : [], {
              now,
              collator,
              random: () => random.nextDoubleUnsafe(),
              memory: makeMemory(),
              find: () => Result.fail(queryProblem(elsewhere))
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

const transformed = <E>(
  operation: string,
  source: Stream.Stream<Document, E>,
  transform: (source: BatchIterator) => BatchIterator
): Stream.Stream<Document, E | QueryFailure> =>
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
      const step: Effect.Effect<Arr.NonEmptyReadonlyArray<Document>, E | QueryFailure | Cause.Done> = Effect.suspend(
        () => {
          beginStep()
          const items = next()
          if (Result.isFailure(items)) return Effect.fail(toError(items.failure, operation))
          if (items.success === undefined) return Cause.done()
          const found = plainValue(items.success)
          if (Arr.isReadonlyArrayNonEmpty(found)) return Effect.succeed(found)
          return Effect.andThen(waiting === undefined && !isEnded ? read : Effect.yieldNow, step)
        }
      )
      return step
    }))
