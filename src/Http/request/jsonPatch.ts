/** Parses and applies JSON Patches (RFC 6902) to any JSON, with a bound on their work. It knows no models. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as JsonPointer from "effect/JsonPointer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { englishOf, type Key, textOfKey } from "../../internal/texts.ts"
import { bodyDecoder, type Decoded, type FieldProblem, limitProblems } from "../../Model/internal.ts"
import { fieldProblem } from "../messages/message.ts"

/** An operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Schema.Json }
  | { readonly op: "test"; readonly path: string; readonly value: Schema.Json }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string }

export interface PatchLimits {
  readonly maxOperations: number
  /** The most that all copies together add to the document: characters, and one for each value. */
  readonly maxCopied: number
}

/** The reason why a patch can't be applied to the current document. */
export interface PatchConflict {
  /** The index of the operation in the patch. */
  readonly index: number
  readonly reason: Reason
}

/** The message keys of these reasons. */
type Reason = `errors.patch.${
  | "NothingThere"
  | "NothingToTake"
  | "OtherValue"
  | "CopiesTooLarge"
  | "TooMuchWork"}`

/** Parses a body as a patch, or returns its problems: `0.path` is the path of the first operation. */
export const readPatch = (
  body: unknown,
  { maxOperations }: Pick<PatchLimits, "maxOperations">
): Result.Result<ReadonlyArray<JsonPatchOperation>, ReadonlyArray<FieldProblem>> => {
  if (!Array.isArray(body)) {
    return Result.fail([fieldProblem("", "Type", "errors.patch.NotOperations")])
  }
  if (body.length > maxOperations) {
    return Result.fail([fieldProblem("", "Max", "errors.patch.TooManyOperations", { limit: maxOperations })])
  }
  const operations: Array<JsonPatchOperation> = []
  const problems: Array<FieldProblem> = []
  body.forEach((item: unknown, i) => {
    const read = readOperation(item)
    // The decoder accepts only an operation of this kind.
    if (read._tag === "Valid") operations.push(read.value as JsonPatchOperation)
    else problems.push(...read.problems.map((problem) => ({ ...problem, field: within(i, problem.field) })))
  })
  return problems.length === 0 ? Result.succeed(operations) : Result.fail(limitProblems(problems))
}

/**
 * Applies all operations in order to a copy of the document.
 *
 * **Details**
 *
 * A container is copied at its first change, and then changed in place. The work of a patch is the number of elements
 * that it copies, or shifts by insertions and removals. It yields to other fibers after each million of them, and fails
 * beyond {@link maxWork}.
 */
export const applyJsonPatch = (
  operations: ReadonlyArray<JsonPatchOperation>,
  document: Schema.Json,
  { maxCopied }: Pick<PatchLimits, "maxCopied">
): Effect.Effect<Result.Result<Schema.Json, PatchConflict>> =>
  Effect.suspend(() => {
    const state: State = { document, remainingSize: maxCopied, copied: new WeakSet(), work: 0 }
    const applyFrom = (start: number): Effect.Effect<Result.Result<Schema.Json, PatchConflict>> => {
      const turnEnd = state.work + maxTurn
      for (let index = start; index < operations.length; index++) {
        if (state.work > turnEnd) return Effect.flatMap(Effect.yieldNow, () => applyFrom(index))
        const reason = applyOne(operations[index]!, state) ?? (state.work > maxWork ? tooMuchWork : undefined)
        if (reason !== undefined) return Effect.succeed(Result.fail({ index, reason }))
      }
      return Effect.succeed(Result.succeed(state.document))
    }
    return applyFrom(0)
  })

/** The maximum number of elements that one patch may copy and shift. */
export const maxWork = 250_000_000

/** The tokens of a JSON Pointer (RFC 6901). */
export const tokensOf = (pointer: string): ReadonlyArray<string> =>
  pointer.split("/").slice(1).map(JsonPointer.unescapeToken)

/** A few milliseconds of work. */
const maxTurn = 1_000_000

interface State {
  document: Schema.Json
  /** The size that copies may still add. */
  remainingSize: number
  /** The containers that were copied here, which may be changed in place. */
  readonly copied: WeakSet<object>
  work: number
}

type Container = Array<Schema.Json> | { [key: string]: Schema.Json }

/** Applies an operation, or returns the reason why it can't be applied. */
const applyOne = (operation: JsonPatchOperation, state: State): Reason | undefined => {
  switch (operation.op) {
    case "test": {
      const value = valueAt(state.document, operation.path)
      if (value === undefined) return targetMissing
      return Equal.equals(value, operation.value) ? undefined : "errors.patch.OtherValue"
    }
    case "copy": {
      const value = valueAt(state.document, operation.from)
      if (value === undefined) return sourceMissing
      const size = sizeOf(value, state.remainingSize)
      if (size > state.remainingSize) return "errors.patch.CopiesTooLarge"
      state.remainingSize -= size
      state.work += size
      // A container that appears twice could not be changed in place.
      return changeAt(state, operation.path, { op: "add", value: structuredClone(value) })
    }
    case "move": {
      const { from, path } = operation
      const value = valueAt(state.document, from)
      if (value === undefined) return sourceMissing
      return from === path
        ? undefined
        : changeAt(state, from, { op: "remove" }) ?? changeAt(state, path, { op: "add", value })
    }
    default:
      return changeAt(state, operation.path, operation)
  }
}

type Change = { readonly op: "add" | "replace"; readonly value: Schema.Json } | { readonly op: "remove" }

const changeAt = (state: State, pointer: string, change: Change): Reason | undefined => {
  const tokens = tokensOf(pointer)
  const last = tokens.at(-1)
  if (last === undefined) {
    if (change.op === "remove") return targetMissing
    state.document = change.value
    return undefined
  }
  const parent = copiedParent(state, tokens)
  if (parent === undefined) return targetMissing
  return Array.isArray(parent) ? changeElement(state, parent, last, change) : changeMember(parent, last, change)
}

const changeElement = (
  state: State,
  list: Array<Schema.Json>,
  token: string,
  change: Change
): Reason | undefined => {
  const index = change.op === "add" && token === "-" ? list.length : indexOf(token)
  if (index === undefined || index > list.length || index === list.length && change.op !== "add") return targetMissing
  if (change.op === "replace") list[index] = change.value
  else {
    state.work += list.length - index
    if (change.op === "add") list.splice(index, 0, change.value)
    else list.splice(index, 1)
  }
  return undefined
}

const changeMember = (
  members: { [key: string]: Schema.Json },
  key: string,
  change: Change
): Reason | undefined => {
  if (change.op !== "add" && !Object.hasOwn(members, key)) return targetMissing
  if (change.op === "remove") delete members[key]
  else setMember(members, key, change.value)
  return undefined
}

/** Any key is allowed, including `__proto__`. */
const setMember = (members: { [key: string]: Schema.Json }, key: string, value: Schema.Json): void => {
  if (key === "__proto__") {
    Object.defineProperty(members, key, { value, configurable: true, enumerable: true, writable: true })
  } else members[key] = value
}

/** The parent of the last token. It and its ancestors are copied unless they have been. */
const copiedParent = (state: State, tokens: ReadonlyArray<string>): Container | undefined => {
  let parent = copyOnce(state, state.document)
  if (parent === undefined) return undefined
  state.document = parent
  for (const token of tokens.slice(0, -1)) {
    const value = childOf(parent, token)
    const child: Container | undefined = value === undefined ? undefined : copyOnce(state, value)
    if (child === undefined) return undefined
    if (Array.isArray(parent)) parent[Number(token)] = child
    else setMember(parent, token, child)
    parent = child
  }
  return parent
}

const copyOnce = (state: State, value: Schema.Json): Container | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  // Only containers that were copied here are in the set.
  if (state.copied.has(value)) return value as Container
  // A JSON object has JSON values only.
  const copy: Container = Array.isArray(value) ? value.slice() : { ...(value as Schema.JsonObject) }
  state.work += Array.isArray(copy) ? copy.length : Object.keys(copy).length
  state.copied.add(copy)
  return copy
}

const sourceMissing: Reason = "errors.patch.NothingToTake"

const targetMissing: Reason = "errors.patch.NothingThere"

const tooMuchWork: Reason = "errors.patch.TooMuchWork"

const within = (index: number, field: string): string => field === "" ? String(index) : `${index}.${field}`

const text = textOfKey("errors.patch.Pointer")

const notPointer = englishOf(text)

const Pointer = Schema.String.check(
  Schema.makeFilter((text) => /^(?:\/(?:[^~/]|~[01])*)*$/u.test(text), { message: notPointer })
)

const valueDecoder = bodyDecoder(Schema.Struct({ op: Schema.String, path: Pointer, value: Schema.Unknown }))
const pathDecoder = bodyDecoder(Schema.Struct({ op: Schema.String, path: Pointer }))
const fromDecoder = bodyDecoder(Schema.Struct({ op: Schema.String, path: Pointer, from: Pointer }))

const decoders: ReadonlyMap<unknown, (item: unknown) => Decoded> = new Map([
  ["add", valueDecoder],
  ["replace", valueDecoder],
  ["test", valueDecoder],
  ["remove", pathDecoder],
  ["move", fromDecoder],
  ["copy", fromDecoder]
])

const readOperation = (item: unknown): Decoded => {
  const op: unknown = Reflect.get(Object(item), "op")
  const decoded = (decoders.get(op) ?? pathDecoder)(item)
  if (!decoders.has(op) && typeof op === "string") return invalid("op", "errors.patch.Operation")
  // RFC 6902, section 4.4: a value can't be moved into itself.
  const isCircular = decoded._tag === "Valid" && op === "move" &&
    String(decoded.value["path"]).startsWith(`${String(decoded.value["from"])}/`)
  if (isCircular) return invalid("path", "errors.patch.WithinFrom")
  return decoded._tag === "Valid" ? decoded : {
    ...decoded,
    problems: decoded.problems.map((problem) => problem.message === notPointer ? { ...problem, text } : problem)
  }
}

const invalid = (field: string, key: Key): Decoded => ({
  _tag: "Invalid",
  problems: [fieldProblem(field, "JsonPatch", key)]
})

/** `undefined` if the pointer refers to nothing. */
const valueAt = (document: Schema.Json, pointer: string): Schema.Json | undefined => {
  let current: Schema.Json | undefined = document
  for (const token of tokensOf(pointer)) {
    if (current === undefined) return undefined
    current = childOf(current, token)
  }
  return current
}

const childOf = (value: Schema.Json, token: string): Schema.Json | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  if (Array.isArray(value)) {
    const index = indexOf(token)
    return index === undefined ? undefined : value[index]
  }
  // A JSON object has JSON values only.
  return Object.hasOwn(value, token) ? (value as Schema.JsonObject)[token] : undefined
}

const indexOf = (token: string): number | undefined => /^(?:0|[1-9]\d{0,15})$/u.test(token) ? Number(token) : undefined

/** The size of a value, counted only until it exceeds `remainingSize`, since copies of copies share their parts. */
const sizeOf = (value: Schema.Json, remainingSize: number): number => {
  if (typeof value === "string") return value.length + 1
  if (typeof value !== "object" || value === null) return 1
  let size = 1
  for (const [key, part] of Object.entries(value)) {
    size += key.length + sizeOf(part, remainingSize - size)
    if (size > remainingSize) break
  }
  return size
}
