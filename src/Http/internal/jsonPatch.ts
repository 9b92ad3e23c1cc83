import * as Equal from "effect/Equal"
import * as JsonPatch from "effect/JsonPatch"
import * as JsonPointer from "effect/JsonPointer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { bodyDecoder, bounded, type Decoded } from "../../Model/internal/explainer.ts"
import type { FieldProblem } from "../../Model/internal/issues.ts"

/**
 * An operation of a JSON Patch (RFC 6902).
 *
 * @internal
 */
export type Operation =
  | { readonly op: "add"; readonly path: string; readonly value: Schema.Json }
  | { readonly op: "replace"; readonly path: string; readonly value: Schema.Json }
  | { readonly op: "test"; readonly path: string; readonly value: Schema.Json }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string }

/**
 * How much a patch may hold.
 *
 * @internal
 */
export interface PatchLimits {
  readonly maxOperations: number
  /** What all copies may add to the document: characters of texts and names, and one for each value. */
  readonly maxCopied: number
}

/**
 * Why a patch can't be applied to the document as it is.
 *
 * @internal
 */
export interface Inapplicable {
  /** The operation's place in the patch. */
  readonly index: number
  readonly reason: string
}

/**
 * The patch that a body is, or what is wrong with it: `0.path` is the path of the first operation.
 *
 * @internal
 */
export const readPatch = (
  body: unknown,
  { maxOperations }: Pick<PatchLimits, "maxOperations">
): Result.Result<ReadonlyArray<Operation>, ReadonlyArray<FieldProblem>> => {
  if (!Array.isArray(body)) {
    return Result.fail([{ field: "", validator: "Type", message: "must be a list of operations" }])
  }
  if (body.length > maxOperations) {
    return Result.fail([{ field: "", validator: "Max", message: `must have at most ${maxOperations} elements` }])
  }
  const operations: Array<Operation> = []
  const problems: Array<FieldProblem> = []
  body.forEach((item: unknown, i) => {
    const read = readOperation(item)
    // What it decodes to is an operation of that kind.
    if (read._tag === "Valid") operations.push(read.value as Operation)
    else problems.push(...read.problems.map((problem) => ({ ...problem, field: within(i, problem.field) })))
  })
  return problems.length === 0 ? Result.succeed(operations) : Result.fail(bounded(problems))
}

/**
 * The document with all operations applied, one after the other; the document that was given stays as it is.
 *
 * @internal
 */
export const applyPatch = (
  operations: ReadonlyArray<Operation>,
  document: Schema.Json,
  { maxCopied }: Pick<PatchLimits, "maxCopied">
): Result.Result<Schema.Json, Inapplicable> => {
  let state: State = { document, room: maxCopied }
  for (const [index, operation] of operations.entries()) {
    const applied = applyOne(operation, state)
    if (Result.isFailure(applied)) return Result.fail({ index, reason: applied.failure })
    state = applied.success
  }
  return Result.succeed(state.document)
}

/**
 * The tokens of a JSON Pointer (RFC 6901).
 *
 * @internal
 */
export const tokensOf = (pointer: string): ReadonlyArray<string> =>
  pointer.split("/").slice(1).map(JsonPointer.unescapeToken)

interface State {
  readonly document: Schema.Json
  /** What copies may still add. */
  readonly room: number
}

const applyOne = (operation: Operation, state: State): Result.Result<State, string> => {
  const { document, room } = state
  switch (operation.op) {
    case "test": {
      const found = valueAt(document, operation.path)
      return found === undefined
        ? Result.fail(nothingThere)
        : Equal.equals(found, operation.value)
        ? Result.succeed(state)
        : Result.fail("the value there is another one")
    }
    case "copy": {
      const value = valueAt(document, operation.from)
      if (value === undefined) return Result.fail(nothingToTake)
      const left = room - sizeOf(value, room)
      return left < 0
        ? Result.fail("the copies make the document too large")
        : changed(document, left, [{ op: "add", path: operation.path, value }])
    }
    case "move": {
      const { from, path } = operation
      const value = valueAt(document, from)
      if (value === undefined) return Result.fail(nothingToTake)
      return from === path
        ? Result.succeed(state)
        : changed(document, room, [{ op: "remove", path: from }, { op: "add", path, value }])
    }
    default:
      return changed(document, room, [operation])
  }
}

const changed = (document: Schema.Json, room: number, patch: JsonPatch.JsonPatch): Result.Result<State, string> =>
  Result.try({
    try: () => ({ document: JsonPatch.apply(patch, document), room }),
    // Pointers are well-formed, so that all that may be wrong is where they lead.
    catch: () => nothingThere
  })

const nothingToTake = "there is nothing at from"

const nothingThere = "there is no such place"

const within = (index: number, field: string): string => field === "" ? String(index) : `${index}.${field}`

const Pointer = Schema.String.check(
  Schema.makeFilter((text) => /^(?:\/(?:[^~/]|~[01])*)*$/u.test(text), { message: "must be a JSON Pointer" })
)

const valued = bodyDecoder(Schema.Struct({ op: Schema.String, path: Pointer, value: Schema.Unknown }))
const located = bodyDecoder(Schema.Struct({ op: Schema.String, path: Pointer }))
const sourced = bodyDecoder(Schema.Struct({ op: Schema.String, path: Pointer, from: Pointer }))

const decoders: ReadonlyMap<unknown, (item: unknown) => Decoded> = new Map([
  ["add", valued],
  ["replace", valued],
  ["test", valued],
  ["remove", located],
  ["move", sourced],
  ["copy", sourced]
])

const readOperation = (item: unknown): Decoded => {
  const op: unknown = Reflect.get(Object(item), "op")
  const decoded = (decoders.get(op) ?? located)(item)
  if (!decoders.has(op) && typeof op === "string") {
    return invalid("op", "must be add, remove, replace, move, copy or test")
  }
  // RFC 6902, section 4.4: nothing can be moved into itself.
  const isCircular = decoded._tag === "Valid" && op === "move" &&
    String(decoded.value["path"]).startsWith(`${String(decoded.value["from"])}/`)
  return isCircular ? invalid("path", "must not lie within from") : decoded
}

const invalid = (field: string, message: string): Decoded => ({
  _tag: "Invalid",
  problems: [{ field, validator: "JsonPatch", message }]
})

/** `undefined` where nothing is. */
const valueAt = (document: Schema.Json, pointer: string): Schema.Json | undefined => {
  let current: Schema.Json | undefined = document
  for (const token of tokensOf(pointer)) {
    if (typeof current !== "object" || current === null) return undefined
    if (Array.isArray(current)) {
      current = /^(?:0|[1-9]\d*)$/u.test(token) ? current[Number(token)] : undefined
    } else {
      // An object of JSON has only values of JSON.
      current = Object.hasOwn(current, token) ? (current as Schema.JsonObject)[token] : undefined
    }
  }
  return current
}

/** The size of a value, which is counted no further than past `room`: copies of copies share their parts. */
const sizeOf = (value: Schema.Json, room: number): number => {
  if (typeof value === "string") return value.length + 1
  if (typeof value !== "object" || value === null) return 1
  let size = 1
  for (const [key, part] of Object.entries(value)) {
    size += key.length + sizeOf(part, room - size)
    if (size > room) break
  }
  return size
}
