/** Applies JSON Patches to a model's documents. Fields that are hidden or read-only stay protected. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { ownValue } from "../../internal/objects.ts"
import type { Key } from "../../internal/texts.ts"
import {
  type bodyDecoder,
  type FieldProblem,
  isModelList,
  limitProblems,
  type ModelLike,
  modelTypeId,
  nestedModel,
  type Serialiser,
  someFieldIn
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { type BadRequest, type Conflict, errorOf } from "../HttpError.ts"
import { badRequestOf, fieldProblem } from "../messages/message.ts"
import { isDeeperValue } from "./depth.ts"
import { applyJsonPatch, type JsonPatchOperation, type PatchLimits, readPatch, tokensOf } from "./jsonPatch.ts"

type Values = Record<string, unknown>

/** JSON Patches (RFC 6902) of a model's documents, in their wire form without `_links`. */
export interface DocumentPatcher {
  /** Parses a body as a patch, or returns the problems that can be found without the document. */
  readonly read: (body: unknown) => Result.Result<ReadonlyArray<JsonPatchOperation>, ReadonlyArray<FieldProblem>>
  /**
   * The changes to a stored document as the model's `patch` schema decodes them; empty if the patch changes nothing.
   * Fails with `Conflict` if an operation can't be applied, including `test`, and with `BadRequest` if the result is
   * not a valid document. Dies if the stored document does not match the model. `serialise` writes the document that
   * the operations refer to.
   */
  readonly changesOf: (
    operations: ReadonlyArray<JsonPatchOperation>,
    stored: Document,
    serialise: Serialiser
  ) => Effect.Effect<Values, BadRequest | Conflict>
}

/**
 * **Details**
 *
 * Omitted fields are not part of the document that pointers refer to. A patch may set or remove an omitted field as a
 * whole, but not test, copy or move it, so that no response reveals its value.
 */
export const documentPatcher = (
  model: Model.Any,
  { decode, maxDepth, ...limits }: PatchLimits & {
    /** The decoder of the model's `patch` schema. */
    readonly decode: ReturnType<typeof bodyDecoder>
    readonly maxDepth: number
  }
): DocumentPatcher => ({
  read: (body) =>
    Result.flatMap(readPatch(body, limits), (operations) => {
      const problems = operations.flatMap((operation, i) =>
        problemsOf(model, operation).map((problem) => ({ ...problem, field: `${i}.${problem.field}` }))
      )
      return problems.length === 0
        ? Result.succeed(operations.map((operation) => withoutReading(model, operation)))
        : Result.fail(limitProblems(problems))
    }),
  changesOf: (operations, stored, serialise) => {
    const text = serialise(stored, "")
    if (text === undefined) {
      return Effect.die(new Error(`${model.modelName} ${String(stored["_id"])} can't be written`))
    }
    // The serialiser writes an object.
    const currentForm = JSON.parse(text) as Schema.JsonObject
    return Effect.flatMap(
      applyJsonPatch(operations, currentForm, limits),
      (applied): ReturnType<DocumentPatcher["changesOf"]> => {
        if (Result.isFailure(applied)) {
          const { index, reason } = applied.failure
          const { op, path } = operations[index]!
          const args = { index, operation: `${op} ${path}`, reason: { key: reason } }
          return Effect.fail(errorOf("Conflict", "errors.patch.PatchConflict", args))
        }
        // The patch never replaces the complete document, so the result is an object.
        const changes = changesBetween(model, currentForm, applied.success as Schema.JsonObject)
        if (isDeeperValue(changes, maxDepth)) {
          return Effect.fail(badRequestOf([fieldProblem("", "Json", "errors.query.TooDeep", { depth: maxDepth })]))
        }
        const decoded = decode(changes)
        return decoded._tag === "Valid" ? Effect.succeed(decoded.value) : Effect.fail(badRequestOf(decoded.problems))
      }
    )
  }
})

/** The fields of a model that a JSON Patch may set, as they are written. */
export const patchableFields = (model: ModelLike): ReadonlyArray<string> =>
  Object.keys(model.store.fields).filter((field) => targetOf(model, [field]) === "value")

// internal

/** The kind of position that a pointer refers to, or the reason why a patch may not use it. */
type PointerTarget =
  | "document"
  | "value"
  | "read-only"
  | "omitted"
  | "within what is omitted"
  | "within items that omit"
  | "unknown"

const problemsOf = (model: ModelLike, operation: JsonPatchOperation): ReadonlyArray<FieldProblem> => {
  const { op, path } = operation
  if (op === "test") return problemsAt("path", testing[targetOf(model, tokensOf(path))])
  const problems = problemsAt("path", writing[targetOf(model, tokensOf(path))])
  if (op !== "move" && op !== "copy") return problems
  const tokens = tokensOf(operation.from)
  const target = targetOf(model, tokens)
  const source = op === "move" ? { ...writing, ...copying } : copying
  const message = source[target] ?? (omitsWithin(model, tokens) ? unreadable : undefined)
  return [...problems, ...problemsAt("from", message)]
}

type Messages = { readonly [K in PointerTarget]?: Key }

const unreadable = "errors.patch.Unreadable"
const unknown = "errors.patch.Unknown"

const testing: Messages = { "omitted": unreadable, "within what is omitted": unreadable, "unknown": unknown }

const copying: Messages = { ...testing, "document": "errors.patch.WholeDocument" }

const writing: Messages = {
  "document": "errors.patch.WholeDocument",
  "read-only": "errors.patch.ReadOnly",
  "within what is omitted": "errors.patch.OmittedPart",
  "within items that omit": "errors.patch.OmittingItems",
  "unknown": unknown
}

const problemsAt = (field: string, key: Key | undefined): ReadonlyArray<FieldProblem> =>
  key === undefined ? [] : [fieldProblem(field, "JsonPatch", key)]

const targetOf = (model: ModelLike, tokens: ReadonlyArray<string>): PointerTarget => {
  if (tokens.length === 0) return "document"
  let current = model
  let variant: "patch" | "create" = "patch"
  let isInOmittingList = false
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    const isLast = i === tokens.length - 1
    if (token === "_type") return isLast ? "read-only" : "unknown"
    if (!Object.hasOwn(current.store.fields, token)) return "unknown"
    if (current[modelTypeId][token]?.omitted === true) {
      return isLast && !isInOmittingList ? "omitted" : "within what is omitted"
    }
    if (!isWritable(current, token, variant)) return "read-only"
    const inner = nestedModel(current.store.fields[token])
    if (inner === undefined || isLast) break
    if (isModelList(current, token)) {
      isInOmittingList ||= omits(inner)
      variant = "create"
      // This token is the index in the list.
      if (++i === tokens.length - 1) break
    }
    current = inner
  }
  return isInOmittingList ? "within items that omit" : "value"
}

const isWritable = (model: ModelLike, field: string, variant: "patch" | "create"): boolean => {
  const managed = model[modelTypeId][field]?.managed
  return Object.hasOwn(model[variant].fields, field) && (managed === undefined || variant === "create")
}

/** Whether the model omits a field at any depth. */
const omits = (model: ModelLike): boolean => someFieldIn(model, ({ omitted }) => omitted === true)

/** Whether a field is omitted within the value of the tokens. */
const omitsWithin = (model: ModelLike, tokens: ReadonlyArray<string>): boolean => {
  let current: ModelLike | undefined = model
  for (let i = 0; i < tokens.length && current !== undefined; i++) {
    const field: string = tokens[i]!
    const inner: ModelLike | undefined = Object.hasOwn(current.store.fields, field)
      ? nestedModel(current.store.fields[field])
      : undefined
    if (inner !== undefined && isModelList(current, field)) i++
    current = inner
  }
  return current !== undefined && omits(current)
}

/** An omitted field is not in the document, so replacing and removing it must not require its presence. */
const withoutReading = (model: ModelLike, operation: JsonPatchOperation): JsonPatchOperation => {
  const { op, path } = operation
  if (op !== "replace" && op !== "remove" || targetOf(model, tokensOf(path)) !== "omitted") return operation
  return { op: "add", path, value: op === "replace" ? operation.value : null }
}

/** The changes between two wire forms: nested models field by field, other values as a whole. */
const changesBetween = (model: ModelLike, currentForm: Schema.JsonObject, after: Schema.JsonObject): Values => {
  const changes: Values = {}
  for (const key of new Set([...Object.keys(currentForm), ...Object.keys(after)])) {
    const old = ownValue(currentForm, key)
    const next = ownValue(after, key)
    // Unknown keys are ignored, as in any body.
    if (!Object.hasOwn(model.store.fields, key) || Equal.equals(old, next)) continue
    const inner = isModelList(model, key) ? undefined : nestedModel(model.store.fields[key])
    changes[key] = next === undefined
      ? null
      : inner !== undefined && isObject(old) && isObject(next)
      ? changesBetween(inner, old, next)
      : next
  }
  return changes
}

const isObject = (value: unknown): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
