/** Applies field masks to writes: which sent values are forbidden, and which stored values a write has to keep. */
import * as Equal from "effect/Equal"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { isPlainObject, ownValue } from "../../internal/objects.ts"
import {
  type FieldNames,
  isAmongFields,
  isModelList,
  isRequiredInput,
  Kept,
  managedField,
  type ModelLike,
  modelTypeId,
  nestedModel
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Masked } from "./maskedFields.ts"

/**
 * The fields that a caller can't see or write, for the writes of documents.
 *
 * **Details**
 *
 * A write keeps the stored values of these fields. A caller may send a field that they can't write if they see it and send the
 * stored value; for a field that they don't see, the response would tell them whether they guessed it.
 *
 * A nested model that has such a field can't be removed, and neither can an item of a list. So a new list has to contain each
 * stored item: the one with the same identifier or, if the items have no identifiers, one with the same content.
 */
export interface WriteMask {
  /** Whether there is no such field. */
  readonly isEmpty: boolean
  /** The fields that callers need not send to create or to replace a document. */
  readonly loose: FieldNames
  /** Whether one of the fields is required, although the decoder of a body accepts a body without it. */
  readonly needsCompletion: boolean
  /** The name of a field in a body, or in an item of a list as a body, that may not be sent whatever is stored. Of files `isUnwritable` tells it. */
  readonly forbiddenIn: (body: unknown, isInsert: boolean) => string | undefined
  /** Whether a field in none of the documents may be written. */
  readonly isUnwritable: (name: string) => boolean
  /** Whether the field can be neither seen nor written in any document. */
  readonly isClosed: (name: string) => boolean
  /** Whether the field is hidden in every document. */
  readonly isHidden: (name: string) => boolean
  /** Whether the changes of a document depend on what is stored. */
  readonly touches: (changes: WrittenValues) => boolean
  /**
   * The values to write, with those that have to stay, or the name of the first field that would change and must not.
   * `previous` is the stored instance. A `merge` leaves fields that it does not name, at every depth.
   */
  readonly keep: (
    values: WrittenValues,
    previous: unknown,
    mode: "replace" | "merge"
  ) => Result.Result<WrittenValues, string>
}

export type WrittenValues = { readonly [key: string]: unknown }

export const writeMaskOf = (
  model: Model.Any,
  masked: {
    readonly hidden: Pick<Masked, "always" | "ever">
    readonly unwritable: Pick<Masked, "always" | "ever">
    /** Whether the caller sees none of the documents. */
    readonly isUnreadable: boolean
    /** Whether the caller sees some of the documents, and others not. */
    readonly isPartlyReadable: boolean
  }
): WriteMask => {
  const { hidden, isPartlyReadable, isUnreadable, unwritable } = masked
  return masks(model).getOrMake(
    JSON.stringify([hidden.always, hidden.ever, unwritable.always, unwritable.ever, isUnreadable, isPartlyReadable]),
    () => {
      const always = treeOf(model, hidden.always, unwritable.always, isUnreadable)
      const ever = treeOf(model, hidden.ever, unwritable.ever, isUnreadable)
      const loose = [...new Set([...hidden.ever, ...unwritable.ever])].toSorted()
      return {
        isEmpty: ever.size === 0,
        loose,
        needsCompletion: loose.some((name) => isRequired(model, name)),
        forbiddenIn: (body, isInsert) =>
          Array.isArray(body) ? sentInOneOf(always, body, isInsert, "") : sentIn(always, body, isInsert, ""),
        isUnwritable: (name) => isAmongFields(name, unwritable.always),
        isClosed: (name) =>
          isAmongFields(name, unwritable.always) && (isUnreadable || isAmongFields(name, hidden.always)),
        isHidden: (name) => isAmongFields(name, hidden.always),
        touches: (changes) => touchesIn(ever, changes, isPartlyReadable),
        keep: (values, previous, mode) => {
          const state: State = { isInsert: previous === undefined, denied: undefined }
          const kept = keepIn(always, values, previous, mode, "", state)
          return state.denied === undefined ? Result.succeed(kept) : Result.fail(state.denied)
        }
      }
    }
  )
}

const maxMasks = 256

const masks = memoize(() => new BoundedCache<WriteMask>(maxMasks))

/** The masked fields of a model. */
interface Tree extends ReadonlyMap<string, Node> {}

interface Node {
  /** Whether the caller does not see the field, or does not see the model that it is part of. */
  readonly isHidden: boolean
  /** Whether every stored document has it. */
  readonly isAlwaysStored: boolean
  readonly isUnwritable: boolean
  /** Whether it holds files, which no body in JSON sets: only a value that comes with their bytes counts. */
  readonly isFile: boolean
  /** The model that `inner` is about. */
  readonly nested: ModelLike | undefined
  readonly isList: boolean
  readonly inner: Tree
}

const treeOf = (
  model: ModelLike,
  hidden: FieldNames,
  unwritable: FieldNames,
  isUnreadable: boolean,
  isParentStored = true
): Tree => {
  const tree = new Map<string, Node>()
  for (const key of new Set([...hidden, ...unwritable].map((name) => name.split(".", 1)[0] ?? ""))) {
    const isFile = model[modelTypeId][key]?.file !== undefined
    // The framework sets the other fields, and ignores what is sent for them.
    if (!isFile && !Object.hasOwn(model.create.fields, key)) continue
    const nested = isFile ? undefined : nestedModel(model.store.fields[key])
    const isMasked = hidden.includes(key) || model[modelTypeId][key]?.omitted === true
    const isHidden = isMasked || isUnreadable
    const isUnwritable = unwritable.includes(key)
    const isAlwaysStored = isParentStored && isRequiredInput(model, key)
    const isList = isModelList(model, key)
    // If a caller does not see the items of a list, nothing tells which of the sent items stand for stored ones.
    const hiddenWithin = isMasked || isUnreadable && isList ? [] : under(hidden, key)
    const inner: Tree = nested === undefined || isHidden && isUnwritable
      ? new Map()
      : treeOf(nested, hiddenWithin, under(unwritable, key), isHidden, isAlwaysStored)
    if (isMasked || isUnwritable || inner.size > 0) {
      tree.set(key, { isHidden, isAlwaysStored, isUnwritable, isFile, nested, isList, inner })
    }
  }
  return tree
}

/** The names of fields within a field. */
const under = (names: FieldNames, key: string): FieldNames =>
  names.flatMap((name) => name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : [])

const isRequired = (model: ModelLike, name: string): boolean => {
  const [key = "", ...rest] = name.split(".")
  if (rest.length === 0) return isRequiredInput(model, key)
  const nested = nestedModel(model.store.fields[key])
  return nested !== undefined && isRequired(nested, rest.join("."))
}

/** A field in a body that is not writable and, for an existing document, not readable either. */
const sentIn = (tree: Tree, body: unknown, isInsert: boolean, path: string): string | undefined => {
  if (!isPlainObject(body)) return undefined
  for (const [key, { inner, isFile, isHidden, isUnwritable }] of tree) {
    const value = ownValue(body, key)
    if (value === undefined || value === null && isInsert || isFile) continue
    if (isUnwritable && (isHidden || isInsert)) return path + key
    const found = Array.isArray(value)
      ? sentInOneOf(inner, value, isInsert, `${path}${key}.`)
      : sentIn(inner, value, isInsert, `${path}${key}.`)
    if (found !== undefined) return found
  }
  return undefined
}

const sentInOneOf = (
  tree: Tree,
  items: ReadonlyArray<unknown>,
  isInsert: boolean,
  path: string
): string | undefined => {
  for (const [i, item] of items.entries()) {
    const found = sentIn(tree, item, isInsert, `${path}${i}.`)
    if (found !== undefined) return found
  }
  return undefined
}

const touchesIn = (tree: Tree, changes: WrittenValues, isPartlyReadable: boolean): boolean =>
  Array.from(tree).some(([key, node]) => {
    const { inner, isHidden, isUnwritable } = node
    const change = changes[key]
    if (change === undefined) return false
    return isUnwritable || (isHidden || isPartlyReadable) && lacksPart(node, change) ||
      inner.size > 0 && (!isPlainObject(change) || touchesIn(inner, change, isPartlyReadable))
  })

// -----------------------------------------------------------------------------
// what stays
// -----------------------------------------------------------------------------

interface State {
  /** Whether there is no stored document. */
  readonly isInsert: boolean
  denied: string | undefined
}

const deny = (state: State, name: string): void => {
  state.denied ??= name
}

const keepIn = (
  tree: Tree,
  values: WrittenValues,
  previous: unknown,
  mode: "replace" | "merge",
  path: string,
  state: State
): WrittenValues => {
  const result: Record<string, unknown> = { ...values }
  for (const [key, node] of tree) {
    const name = path + key
    const sent = values[key]
    const stored = ownValue(previous, key)
    const isSent = sent !== undefined
    if (node.isFile && !isSent) continue
    if (node.isUnwritable) {
      const isNone = state.isInsert && sent === null
      // The answer to a comparison with a hidden value would tell it.
      if (isSent && !isNone && (node.isHidden || !isSame(node, sent, stored, mode === "merge"))) deny(state, name)
      if (mode === "replace" && previous !== undefined) result[key] = new Kept(stored)
      else delete result[key]
    } else if (node.isHidden && !isSent) {
      if (mode === "replace" && previous !== undefined) result[key] = new Kept(stored)
    } else if (node.inner.size > 0 && (isSent || mode === "replace")) {
      const kept = keepWithin(node, { sent, stored, mode, name }, state)
      if (isSent) result[key] = kept
    } else if (mode === "merge" && node.isHidden && lacksPart(node, sent)) deny(state, name)
  }
  return result
}

const keepWithin = (
  node: Node,
  { mode, name, sent, stored }: {
    readonly sent: unknown
    readonly stored: unknown
    readonly mode: "replace" | "merge"
    readonly name: string
  },
  state: State
): unknown => {
  // Whether something of a hidden value would be lost depends on the value.
  const tells = node.isHidden && !state.isInsert
  const previous = stored ?? undefined
  if (!node.isList && isPlainObject(sent)) {
    const kept = keepIn(node.inner, sent, previous, mode, `${name}.`, state)
    if (tells && lacksPart(node, sent)) deny(state, name)
    return kept
  }
  if (tells) deny(state, name)
  if (node.isList) return keepInList(node, sent, stored, name, state)
  if (previous !== undefined) deny(state, name)
  return sent
}

/** Whether a required part is not sent that only a stored value has. The answer would tell whether there is one. */
const lacksPart = ({ isAlwaysStored, isList, nested }: Node, sent: unknown): boolean =>
  !isAlwaysStored && !isList && nested !== undefined && isPlainObject(sent) && isPartial(nested, sent)

/** Whether there are models, in what was sent for one, that lack a required part. */
const isPartial = (model: ModelLike, sent: WrittenValues): boolean =>
  Object.keys(model.create.fields).some((key) => {
    const value = sent[key] ?? undefined
    if (value === undefined) return isRequiredInput(model, key)
    const nested = nestedModel(model.store.fields[key])
    return nested !== undefined && isPlainObject(value) && isPartial(nested, value)
  })

const keepInList = (node: Node, sent: unknown, stored: unknown, name: string, state: State): unknown => {
  const previous = Array.isArray(stored) ? stored.filter((item: unknown) => (item ?? undefined) !== undefined) : []
  const items: ReadonlyArray<unknown> = Array.isArray(sent) ? sent : []
  const matched = matchItems(node, items, previous)
  if (matched === undefined) deny(state, name)
  return Array.isArray(sent)
    ? items.map((item, i) =>
      isPlainObject(item) ? keepIn(node.inner, item, matched?.get(i), "replace", `${name}.${i}.`, state) : item
    )
    : sent
}

/** The previous item of each item by its index; `undefined` if a previous item would be lost. */
const matchItems = (
  { inner, nested }: Node,
  items: ReadonlyArray<unknown>,
  previous: ReadonlyArray<unknown>
): ReadonlyMap<number, unknown> | undefined => {
  if (nested === undefined) return undefined
  const id = managedField(nested, "id")
  const isSameItem = id !== undefined && inner.get(id)?.isHidden !== true
    ? (item: unknown, old: unknown) => Equal.equals(ownValue(item, id), ownValue(old, id))
    : (item: unknown, old: unknown) => isSameContent(nested, inner, item, old)
  const matched = new Map<number, unknown>()
  for (const old of previous) {
    const at = items.findIndex((item, i) => !matched.has(i) && isPlainObject(item) && isSameItem(item, old))
    if (at < 0) return undefined
    matched.set(at, old)
  }
  return matched
}

/** In a `partial` comparison, what was not sent is the same, at every depth. */
const isSame = ({ inner, isList, nested }: Node, sent: unknown, stored: unknown, partial: boolean): boolean =>
  nested === undefined ? isSameValue(sent, stored) : isSameNested(nested, isList, inner, sent, stored, partial)

const isSameValue = (sent: unknown, stored: unknown): boolean => Equal.equals(sent ?? undefined, stored ?? undefined)

const isSameNested = (
  model: ModelLike,
  isList: boolean,
  tree: Tree,
  sent: unknown,
  stored: unknown,
  partial: boolean
): boolean => {
  if (isPlainObject(sent)) return isSameContent(model, tree, sent, stored, partial)
  if (!isList || !Array.isArray(sent) || !Array.isArray(stored)) return isSameValue(sent, stored)
  return sent.length === stored.length &&
    sent.every((item: unknown, i) => isSameNested(model, false, tree, item, stored[i], false))
}

/** Whether what was sent for a nested model is what the caller sees of the stored one. */
const isSameContent = (model: ModelLike, tree: Tree, sent: unknown, stored: unknown, partial = false): boolean =>
  isPlainObject(sent) && typeof stored === "object" && stored !== null &&
  Object.keys(model.create.fields).every((key) => {
    const node = tree.get(key)
    const [own, old] = [sent[key], ownValue(stored, key)]
    const isUnreadable = node?.isHidden === true || model[modelTypeId][key]?.omitted === true
    if (own === undefined && (partial || isUnreadable || node?.isUnwritable === true)) return true
    if (isUnreadable) return false
    const nested = nestedModel(model.store.fields[key])
    return nested === undefined
      ? isSameValue(own, old)
      : isSameNested(nested, isModelList(model, key), node?.inner ?? empty, own, old, partial)
  })

const empty: Tree = new Map()
