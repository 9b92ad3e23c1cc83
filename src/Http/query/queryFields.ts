/**
 * Resolves the fields of a model that requests may name, and parses their values. All field names from requests are resolved
 * here: in filters, sort orders, selections, native queries, pipelines and patches.
 *
 * Omitted fields can't be named at any depth, and neither can undeclared properties of stored documents. For a caller, both do
 * not exist. A field that grants hide in every document is no field of the model that `Access/fields/modelView.ts` gives; those
 * that only some documents hide are in `partlyHiddenFields.ts`.
 */
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { ownText } from "../../internal/ownText.ts"
import {
  expectationOf,
  fold,
  isNullValue,
  isOfOneType,
  jsonLinkOf,
  managedField,
  type ModelLike,
  modelOf,
  modelTypeId,
  nestedModel,
  someFieldIn,
  unwrapped
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { indexesOf } from "../../Repository/internal.ts"
import { type Reader, readerOf } from "./fieldReader.ts"

/**
 * A field that callers may use, or a part of one: `address.city`, `lines.product`, `lines.0.product`, and
 * `labels.colour` for records and structs.
 */
export interface QueryField {
  /** The name in the request: `address.city`. */
  readonly name: string
  /** The path in the stored document, whose identifier is `_id`. */
  readonly path: string
  /** Whether the field is a list. Conditions then apply to its elements. */
  readonly isList: boolean
  /** Whether the list's elements may be `null`. */
  readonly hasNulls: boolean
  /** The path of the innermost list that the path traverses without an index. */
  readonly list: string | undefined
  /** Whether the value or the list's elements have fields. */
  readonly isDocument: boolean
  /** Whether the value contains omitted fields. */
  readonly holdsOmitted: boolean
  /** Whether a value on the path may be missing, including the last one. */
  readonly mayBeMissing: boolean
  /** Whether documents can be sorted by the field. */
  readonly sortable: boolean
  /** Whether the field can be selected: it belongs to the model or to a nested model. */
  readonly selectable: boolean
  /** Whether the value or its elements are stored as text. */
  readonly isText: boolean
  /** Whether the values or elements are ordered. */
  readonly isOrdered: boolean
  /** The expectation for a text that `read` accepts, to follow the label: `must be a number`. */
  readonly expects: string
  /**
   * Parses a text, which may have been in quotes, into a stored value; `undefined` if it does not fit the field. For a list it parses
   * an element.
   */
  readonly read: (text: string, isQuoted?: boolean) => unknown
  /** For a date-time field and a date, the stored first and last millisecond of that day. */
  readonly day: (text: string) => readonly [first: unknown, last: unknown] | undefined
  /**
   * Decodes a JSON value into a stored value; `undefined` if it does not fit the field. A list accepts a list or an
   * element. `null` and BSON values without a JSON form are accepted as they are.
   */
  readonly readJson: (value: unknown) => unknown
}

/** The accessible fields of a model. */
export interface QueryFields {
  /** The name of the identifier, if there is one. */
  readonly id: string | undefined
  /** The field of this name; `undefined` if no accessible field has it. */
  readonly field: (name: string) => QueryField | undefined
  /** A projection to the accessible fields, as the first stage of a pipeline. */
  readonly projection: Document
  /** Whether a text search is limited to accessible fields. */
  readonly searchable: boolean
}

/** The accessible fields of a model, computed once. */
export const of: (model: Model.Any) => QueryFields = memoize((model: Model.Any): QueryFields => {
  const fields = new Map<string, QueryField>()
  const id = managedField(model, "id")
  const field = (name: string): QueryField | undefined => {
    const known = fields.get(name)
    if (known !== undefined) return known
    const own = ownText(name)
    const found = fieldAt(model, own, (inner) => field(inner))
    // Recursive models and records have infinitely many fields, and a key of a record any length.
    if (found !== undefined && fields.size < maxKnownFields && own.length <= maxKnownLength) fields.set(own, found)
    return found
  }
  const paths = visiblePaths(model, "", [model]).map((path) => path === id ? "_id" : path)
  return {
    id,
    field,
    projection: Object.fromEntries(["_id", ...paths].map((path) => [path, 1])),
    searchable: indexesOf(model).every(({ key }) =>
      Object.entries(key).every(([path, direction]) => direction !== "text" || isVisible(model, path))
    )
  }
})

// internal

const maxKnownFields = 1_000

const maxKnownLength = 256

const maxDepth = 32

/** A position in a document, with the schemas of its stored and its wire form. */
interface FieldPosition {
  readonly stored: SchemaAST.AST
  readonly wire: SchemaAST.AST
  readonly mayBeMissing: boolean
}

const fieldAt = (
  root: ModelLike,
  name: string,
  field: (name: string) => QueryField | undefined
): QueryField | undefined => {
  const segments = name.split(".", maxDepth + 1)
  if (segments.length > maxDepth) return undefined
  let position = fieldOf(root, segments[0] ?? "")
  let path = segments[0] === managedField(root, "id") ? "_id" : segments[0] ?? ""
  let list: string | undefined
  let selectable = true
  let mayBeMissing = position?.mayBeMissing ?? false
  for (const segment of segments.slice(1)) {
    if (position === undefined) return undefined
    const element = elementOf(position)
    if (element !== undefined && isIndex.test(segment)) {
      position = element
      selectable = false
      mayBeMissing = true
    } else {
      if (element !== undefined) list = path
      const parent: FieldPosition = element ?? position
      selectable &&= modelOf(nonNullType(parent.stored)) !== undefined
      position = positionAt(parent, segment)
      mayBeMissing ||= position?.mayBeMissing ?? false
    }
    path += `.${segment}`
  }
  return position === undefined
    ? undefined
    : accessible({ name, path, list, position, mayBeMissing, selectable }, field)
}

const isIndex = /^(?:0|[1-9]\d{0,5})$/u

/** A field of a model; `undefined` if it is omitted. */
const fieldOf = (model: ModelLike, key: string): FieldPosition | undefined => {
  if (!Object.hasOwn(model.wire.fields, key) || !Object.hasOwn(model.store.fields, key)) return undefined
  // Every struct field is a schema.
  const [stored, wire] = [model.store.fields[key] as Schema.Top, model.wire.fields[key] as Schema.Top]
  const attributes = model[modelTypeId][key] ?? {}
  return {
    stored: unwrapped(stored).ast,
    wire: unwrapped(wire).ast,
    mayBeMissing: attributes.optional === true || attributes.default !== undefined || isNullValue(stored, attributes) ||
      mayBeNothing(stored.ast)
  }
}

/** The type of a value beside `null`. */
export const nonNullType: (ast: SchemaAST.AST) => SchemaAST.AST = fold<SchemaAST.AST>({
  Union: (ast) => {
    const [only, ...others] = ast.types.filter(({ _tag }) => _tag !== "Null")
    return ast.encoding !== undefined || only === undefined || others.length > 0 ? ast : nonNullType(only)
  },
  otherwise: (ast) => ast
})

/** Whether `null` stands for one of the values where they are encoded. */
export const takesNull = (ast: SchemaAST.AST): boolean => holdsNull(SchemaAST.toEncoded(ast))

const holdsNull: (ast: SchemaAST.AST) => boolean = fold<boolean>({
  Null: () => true,
  Union: ({ types }) => types.some(holdsNull),
  otherwise: () => false
})

/** Whether one of the values, such as `None`, is stored as `null` or not at all. */
const mayBeNothing = (ast: SchemaAST.AST): boolean => SchemaAST.isOptional(SchemaAST.toEncoded(ast)) || takesNull(ast)

/** The elements of a list, or of a value with a list as its stored and wire form, such as a set or a chunk. */
const itemOf = (ast: SchemaAST.AST): SchemaAST.AST | undefined => {
  const own = nonNullType(ast)
  const list = own._tag === "Declaration" ? declaredListOf(own) : own
  return list?._tag === "Arrays" && list.encoding === undefined && isOfOneType(list) ? list.rest[0] : undefined
}

const declaredListOf = (ast: SchemaAST.Declaration): SchemaAST.AST | undefined => {
  if (ast.encoding === undefined) return jsonLinkOf(ast)?.link?.to
  const [link, ...others] = ast.encoding
  return others.length === 0 && modelOf(ast) === undefined ? link.to : undefined
}

/** The position of the elements, if the position is a list. */
const elementOf = ({ stored, wire }: FieldPosition): FieldPosition | undefined => {
  const item = itemOf(stored)
  return item === undefined ? undefined : { stored: item, wire: itemOf(wire) ?? item, mayBeMissing: takesNull(item) }
}

/** The value under a key of a struct or a record. */
const valueAt = (ast: SchemaAST.AST, key: string): SchemaAST.AST | undefined => {
  const own = nonNullType(ast)
  return own._tag === "Objects"
    ? own.propertySignatures.find(({ name }) => name === key)?.type ?? own.indexSignatures[0]?.type
    : undefined
}

/** The position of a key in a document. */
const positionAt = ({ stored, wire }: FieldPosition, key: string): FieldPosition | undefined => {
  const own = nonNullType(stored)
  const model = modelOf(own)
  if (model !== undefined) return fieldOf(model, key)
  if (own._tag !== "Objects" || own.encoding !== undefined) return undefined
  const property = own.propertySignatures.find(({ name }) => name === key)
  if (property !== undefined) {
    const { type } = property
    return {
      stored: type,
      wire: valueAt(wire, key) ?? type,
      mayBeMissing: mayBeNothing(type)
    }
  }
  const [index] = own.indexSignatures
  return index === undefined || key === "" || key.startsWith("$") || isInherited(key) || !key.isWellFormed()
    ? undefined
    : { stored: index.type, wire: valueAt(wire, key) ?? index.type, mayBeMissing: true }
}

/** Whether every object inherits a property of this name. */
export const isInherited = (key: string): boolean => key in Object.prototype

const accessible = (
  { list, mayBeMissing, name, path, position, selectable }: {
    readonly name: string
    readonly path: string
    readonly list: string | undefined
    readonly position: FieldPosition
    readonly mayBeMissing: boolean
    readonly selectable: boolean
  },
  field: (name: string) => QueryField | undefined
): QueryField => {
  const element = elementOf(position)
  const value = element ?? position
  const [stored, wire] = [nonNullType(value.stored), nonNullType(value.wire)]
  const model = modelOf(stored)
  const isDocument = model !== undefined || stored._tag === "Objects" && stored.encoding === undefined
  const isNested = itemOf(stored) !== undefined
  const holdsOmitted = model !== undefined && omitsFields(model)
  let reader: Reader | undefined
  const read = (): Reader => reader ??= readerOf(stored, wire)

  const readOne = (value: unknown): unknown => {
    if (value === null || isBson(value)) return value
    if (!isDocument) return read().json(value)
    return holdsOmitted ? undefined : readDocument(value, (key) => field(`${name}.${key}`))
  }

  const isValue = !isDocument && !isNested
  return {
    name,
    path,
    isList: element !== undefined,
    hasNulls: element !== undefined && takesNull(element.stored),
    list,
    isDocument,
    holdsOmitted,
    mayBeMissing,
    sortable: element === undefined && list === undefined && isValue,
    selectable,
    // The reader is made at the first comparison with the field.
    get isText() {
      return isValue && read().isText
    },
    get isOrdered() {
      return isValue && read().isOrdered
    },
    get expects() {
      return isValue ? expectationOf(value.stored).message : "has fields of its own: name one of them"
    },
    read: (text, isQuoted) => isValue ? read().text(text, isQuoted) : undefined,
    day: (text) => isValue ? read().day(text) : undefined,
    readJson: (value) => {
      if (element === undefined || !Array.isArray(value)) return readOne(value)
      const items = value.map((item) => readOne(item))
      return items.includes(undefined) ? undefined : items
    }
  }
}

/** Decodes the members of an object; `undefined` if one of them does not fit. */
const readDocument = (value: unknown, field: (key: string) => QueryField | undefined): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const document: Array<readonly [string, unknown]> = []
  for (const [key, part] of Object.entries(value)) {
    const stored = field(key)?.readJson(part)
    if (stored === undefined) return undefined
    document.push([key, stored])
  }
  return Object.fromEntries(document)
}

/** Whether the value has a BSON type without a JSON form. */
const isBson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) &&
  Object.getPrototypeOf(value) !== Object.prototype

/** Whether the model omits a field at any depth. */
const omitsFields = memoize((model: ModelLike): boolean =>
  someFieldIn(model, (_, key, { wire }) => !Object.hasOwn(wire.fields, key))
)

/** The depth up to which a pipeline sees a recursive model with omitted fields. */
const maxRecursion = 3

const visiblePaths = (model: ModelLike, prefix: string, around: ReadonlyArray<ModelLike>): ReadonlyArray<string> =>
  Object.keys(model.wire.fields).flatMap((key) => {
    if (key === "_type" || !Object.hasOwn(model.store.fields, key)) return []
    const inner = nestedModel(model.store.fields[key])
    if (inner === undefined || !omitsFields(inner)) return [prefix + key]
    return around.filter((other) => other === inner).length >= maxRecursion
      ? []
      : visiblePaths(inner, `${prefix}${key}.`, [...around, inner])
  })

const isVisible = (model: ModelLike, path: string): boolean => {
  const [key = "", ...rest] = path.split(".")
  if (path === "_id") return true
  if (!Object.hasOwn(model.wire.fields, key)) return false
  const inner = nestedModel(model.store.fields[key])
  return rest.length === 0 || inner === undefined || isVisible(inner, rest.join("."))
}
