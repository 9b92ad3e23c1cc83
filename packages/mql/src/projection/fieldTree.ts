/**
 * The paths of a projection or of computed fields as a tree, and its application to a document. A path leads through
 * arrays: it holds for each of their items.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { maxNesting } from "../bson/limits.ts"
import { isArray, isDocument, ownField, setField } from "../bson/value.ts"
import { fieldPathOf } from "../expression/expression.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"

/** Computes a field from the document and its value there; `undefined` leaves it out. May throw. */
export type Leaf = (root: Document, value: unknown) => unknown

export class FieldTree {
  readonly fields = new Map<string, FieldTree>()
  leaf: Leaf | undefined = undefined
  /** Whether the projection creates missing fields below this one. */
  makes = false

  /** Adds a path. Rejects one that collides with another. `makes` says that the field is made where there is none. */
  add(path: string, leaf: Leaf, makes: boolean): void {
    const segments = fieldPathOf("a projection", path)
    if (segments.length > maxNesting) reject(`a path leads through more than ${maxNesting} levels`)
    const target = segments.reduce<FieldTree>((tree, segment) => tree.#child(path, segment, makes), this)
    if (target.leaf !== undefined || target.fields.size > 0) reject(`"${path}" collides with another path`)
    target.leaf = leaf
    target.makes = makes
  }

  #child(path: string, segment: string, makes: boolean): FieldTree {
    if (this.leaf !== undefined) return reject(`"${path}" collides with another path`)
    this.makes ||= makes
    const child = this.fields.get(segment) ?? new FieldTree()
    this.fields.set(segment, child)
    return child
  }
}

/** Takes a field as it is. */
export const taken: Leaf = (_, value) => value

/** Leaves a field out. */
export const dropped: Leaf = () => undefined

/** The document with the fields of the tree only: fields that are made follow those that are taken. */
export const selectFields = (document: Document, tree: FieldTree): Document => select(document, tree, document)

/** The whole document with the fields of the tree in place of its own. */
export const changeFields = (document: Document, tree: FieldTree): Document => change(document, tree, document)

// internal

const select = (document: Document, { fields, makes }: FieldTree, root: Document): Document => {
  const result: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    const tree = fields.get(key)
    if (tree === undefined || (tree.leaf !== undefined && tree.makes)) continue
    const value = tree.leaf === undefined ? within(document[key], tree, root, select) : tree.leaf(root, document[key])
    if (value !== undefined) setField(result, key, value)
  }
  if (makes) addMissing(result, document, fields, root, select)
  return result
}

const change = (document: Document, { fields, makes }: FieldTree, root: Document): Document => {
  const result: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    const tree = fields.get(key)
    const value = tree === undefined
      ? document[key]
      : tree.leaf === undefined
      ? within(document[key], tree, root, change)
      : tree.leaf(root, document[key])
    if (value !== undefined) setField(result, key, value)
  }
  if (makes) addMissing(result, document, fields, root, change)
  return result
}

type Apply = (document: Document, tree: FieldTree, root: Document) => Document

/** Adds the fields that the tree makes. Those that `change` has made in place are there already. */
const addMissing = (
  result: { [key: string]: unknown },
  document: Document,
  fields: FieldTree["fields"],
  root: Document,
  apply: Apply
): void => {
  for (const [key, tree] of fields) {
    if (!tree.makes || (Object.hasOwn(document, key) && (apply === change || tree.leaf === undefined))) continue
    const value = tree.leaf === undefined ? apply({}, tree, root) : tree.leaf(root, ownField(document, key))
    if (value !== undefined) setField(result, key, value)
  }
}

/** A value that is no document becomes one where the tree makes fields. */
const within = (value: unknown, tree: FieldTree, root: Document, apply: Apply): unknown => {
  if (isDocument(value)) return apply(value, tree, root)
  if (!isArray(value)) return tree.makes ? apply({}, tree, root) : apply === change ? value : undefined
  charge(value.length)
  const items = value.map((item) => within(item, tree, root, apply))
  return apply === change ? items : items.filter((item) => item !== undefined)
}
