/**
 * Which fields of a model a caller may name in a request, and how a value for one is read. Everything that takes a field
 * name from outside asks here: filters, orders, selections, queries in the store's own language, pipelines and patches.
 *
 * Fields that the model omits are not among them, at any depth, and neither is what documents have beside the model's
 * fields: to a caller, both do not exist.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import {
  expectationOf,
  isNullValue,
  jsonLinkOf,
  managedField,
  type ModelLike,
  modelOf,
  modelTypeId,
  nestedModel,
  perModel,
  unwrapped
} from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { indexesOf } from "../../Repository/introspection.ts"
import { type Reader, readerOf } from "./fieldReader.ts"

/**
 * A field that a caller may name, or a place in one: `address.city`, `lines.product`, `lines.0.product`, and of a record
 * or a structure `labels.colour`.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessibleField {
  /** The name in the request: `address.city`. */
  readonly name: string
  /** The path in the stored document, whose identifier is `_id`. */
  readonly path: string
  /** Whether it is a list. What is said of its values is said of its elements then. */
  readonly isList: boolean
  /** Whether its elements may be `null`, if it is a list. */
  readonly hasNulls: boolean
  /** The path of the innermost list that the path leads through to any of its elements. */
  readonly list: string | undefined
  /** Whether it has fields of its own, or is a list of what has. */
  readonly isDocument: boolean
  /** Whether there is something in it that no caller may see. */
  readonly holdsOmitted: boolean
  /** Whether any value that the path leads through may be missing, the last one included. */
  readonly mayBeMissing: boolean
  /** Whether documents can be put in its order. */
  readonly sortable: boolean
  /** Whether an answer can be made of it alone: it is a field of the model, or of one nested in it. */
  readonly selectable: boolean
  /** Whether the value, or an element, is stored as text. */
  readonly isText: boolean
  /** Whether one value, or element, can be less than another. */
  readonly isOrdered: boolean
  /** What a text has to be that `read` takes, to go behind the label: `must be a number`. */
  readonly expects: string
  /** The stored value that a text stands for; `undefined` when the field can't take it. A list takes an element. */
  readonly read: (text: string) => unknown
  /** When the field is a date-time and the text a date: the stored moments at which that day, and the next, begins. */
  readonly day: (text: string) => readonly [start: unknown, end: unknown] | undefined
  /**
   * The stored value that a JSON value stands for; `undefined` when the field can't take it. A list takes a list or an
   * element; BSON values that have no JSON form are taken as they are, and so is `null`.
   */
  readonly readJson: (value: unknown) => unknown
}

/**
 * What a caller may name of one model.
 *
 * @category models
 * @since 0.1.0
 */
export interface FieldAccess {
  /** The name of the identifier, if there is one. */
  readonly id: string | undefined
  /** The field of this name; `undefined` when there is none that a caller may see. */
  readonly field: (name: string) => AccessibleField | undefined
  /** Every document as a caller may see it: the first stage of a pipeline, behind which nothing else is left. */
  readonly projection: Document
  /** Whether a search for words looks only at what a caller may see. */
  readonly searchable: boolean
}

/**
 * What a caller may name of a model. It is made once.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of: (model: Model.Any) => FieldAccess = perModel((model: Model.Any): FieldAccess => {
  const fields = new Map<string, AccessibleField>()
  const id = managedField(model, "id")
  const field = (name: string): AccessibleField | undefined => {
    const known = fields.get(name)
    if (known !== undefined) return known
    const found = fieldAt(model, name, (inner) => field(inner))
    // Recursive models and records have fields without number.
    if (found !== undefined && fields.size < maxKnownFields) fields.set(name, found)
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxKnownFields = 1_000

const maxDepth = 32

/** A place in a document, in its stored and its visible form. */
interface Place {
  readonly stored: SchemaAST.AST
  readonly wire: SchemaAST.AST
  readonly mayBeMissing: boolean
}

const fieldAt = (
  root: ModelLike,
  name: string,
  field: (name: string) => AccessibleField | undefined
): AccessibleField | undefined => {
  const segments = name.split(".", maxDepth + 1)
  if (segments.length > maxDepth) return undefined
  let place = fieldOf(root, segments[0] ?? "")
  let path = segments[0] === managedField(root, "id") ? "_id" : segments[0] ?? ""
  let list: string | undefined
  let selectable = true
  let mayBeMissing = place?.mayBeMissing ?? false
  for (const segment of segments.slice(1)) {
    if (place === undefined) return undefined
    const element = elementOf(place)
    if (element !== undefined && position.test(segment)) {
      place = element
      selectable = false
      mayBeMissing = true
    } else {
      if (element !== undefined) list = path
      const whole: Place = element ?? place
      selectable &&= modelOf(ownOf(whole.stored)) !== undefined
      place = partOf(whole, segment)
      mayBeMissing ||= place?.mayBeMissing ?? false
    }
    path += `.${segment}`
  }
  return place === undefined
    ? undefined
    : accessible({ name, path, list, place, mayBeMissing, selectable }, field)
}

const position = /^(?:0|[1-9]\d{0,5})$/u

/** A field of a model; of those that no answer has, none. */
const fieldOf = (model: ModelLike, key: string): Place | undefined => {
  if (!Object.hasOwn(model.wire.fields, key) || !Object.hasOwn(model.store.fields, key)) return undefined
  // Fields of a struct are schemas.
  const [stored, wire] = [model.store.fields[key] as Schema.Top, model.wire.fields[key] as Schema.Top]
  const attributes = model[modelTypeId][key] ?? {}
  return {
    stored: unwrapped(stored).ast,
    wire: unwrapped(wire).ast,
    mayBeMissing: attributes.optional === true || attributes.default !== undefined || isNullValue(stored, attributes)
  }
}

/** What a value may be beside `null`. */
const ownOf = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag === "Suspend") return ownOf(ast.thunk())
  if (ast._tag !== "Union" || ast.encoding !== undefined) return ast
  const others = ast.types.filter(({ _tag }) => _tag !== "Null")
  return others.length === 1 && others[0] !== undefined ? ownOf(others[0]) : ast
}

const takesNull = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Suspend"
    ? takesNull(ast.thunk())
    : ast._tag === "Null" || ast._tag === "Union" && ast.types.some(takesNull)

/** What stands in a list, or in what is stored and seen as one: a set, a chunk. */
const itemOf = (ast: SchemaAST.AST): SchemaAST.AST | undefined => {
  const own = ownOf(ast)
  const list = own._tag === "Declaration" ? declaredListOf(own) : own
  return list?._tag === "Arrays" && list.encoding === undefined && list.elements.length === 0 && list.rest.length === 1
    ? list.rest[0]
    : undefined
}

const declaredListOf = (ast: SchemaAST.Declaration): SchemaAST.AST | undefined => {
  if (ast.encoding === undefined) return jsonLinkOf(ast)?.link?.to
  const [link, ...others] = ast.encoding
  return others.length === 0 && modelOf(ast) === undefined ? link.to : undefined
}

/** The elements, if the place is a list. */
const elementOf = ({ stored, wire }: Place): Place | undefined => {
  const item = itemOf(stored)
  return item === undefined ? undefined : { stored: item, wire: itemOf(wire) ?? item, mayBeMissing: takesNull(item) }
}

/** The value of a key of a structure or of a record. */
const valueAt = (ast: SchemaAST.AST, key: string): SchemaAST.AST | undefined => {
  const own = ownOf(ast)
  return own._tag === "Objects"
    ? own.propertySignatures.find(({ name }) => name === key)?.type ?? own.indexSignatures[0]?.type
    : undefined
}

/** What a document at this place has under the key. */
const partOf = ({ stored, wire }: Place, key: string): Place | undefined => {
  const own = ownOf(stored)
  const model = modelOf(own)
  if (model !== undefined) return fieldOf(model, key)
  if (own._tag !== "Objects" || own.encoding !== undefined) return undefined
  const property = own.propertySignatures.find(({ name }) => name === key)
  if (property !== undefined) {
    const { type } = property
    return {
      stored: type,
      wire: valueAt(wire, key) ?? type,
      mayBeMissing: SchemaAST.isOptional(type) || takesNull(type)
    }
  }
  const [index] = own.indexSignatures
  return index === undefined || key === "" || key.startsWith("$") || isInherited(key) || !key.isWellFormed()
    ? undefined
    : { stored: index.type, wire: valueAt(wire, key) ?? index.type, mayBeMissing: true }
}

/**
 * Whether every object has something of this name, which is not its own.
 *
 * @internal
 */
export const isInherited = (key: string): boolean => key in Object.prototype

const accessible = (
  { list, mayBeMissing, name, path, place, selectable }: {
    readonly name: string
    readonly path: string
    readonly list: string | undefined
    readonly place: Place
    readonly mayBeMissing: boolean
    readonly selectable: boolean
  },
  field: (name: string) => AccessibleField | undefined
): AccessibleField => {
  const element = elementOf(place)
  const value = element ?? place
  const [stored, wire] = [ownOf(value.stored), ownOf(value.wire)]
  const model = modelOf(stored)
  const isDocument = model !== undefined || stored._tag === "Objects" && stored.encoding === undefined
  const isNested = itemOf(stored) !== undefined
  const holdsOmitted = model !== undefined && hides(model)
  let reader: Reader | undefined
  const read = (): Reader => reader ??= readerOf(stored, wire)

  const readOne = (value: unknown): unknown => {
    if (value === null || isBson(value)) return value
    if (!isDocument) return read().json(value)
    if (typeof value !== "object" || Array.isArray(value) || holdsOmitted) return undefined
    const document: Array<readonly [string, unknown]> = []
    for (const [key, part] of Object.entries(value)) {
      const stored = field(`${name}.${key}`)?.readJson(part)
      if (stored === undefined) return undefined
      document.push([key, stored])
    }
    return Object.fromEntries(document)
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
    // The reader is made when the field is first compared with something.
    get isText() {
      return isValue && read().isText
    },
    get isOrdered() {
      return isValue && read().isOrdered
    },
    get expects() {
      return isValue ? expectationOf(value.stored).message : "has fields of its own: name one of them"
    },
    read: (text) => isValue ? read().text(text) : undefined,
    day: (text) => isValue ? read().day(text) : undefined,
    readJson: (value) => {
      if (element === undefined || !Array.isArray(value)) return readOne(value)
      const items = value.map((item) => readOne(item))
      return items.includes(undefined) ? undefined : items
    }
  }
}

/** Whether the value is one of BSON's own, which no JSON text gives. */
const isBson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) &&
  Object.getPrototypeOf(value) !== Object.prototype

/** Whether there is anything in the model, at any depth, that no caller may see. */
const hides = perModel((model: ModelLike): boolean => hidesIn(model, new Set()))

const hidesIn = (model: ModelLike, seen: Set<ModelLike>): boolean => {
  if (seen.has(model)) return false
  seen.add(model)
  return Object.entries(model.store.fields).some(([key, schema]) => {
    const inner = nestedModel(schema)
    return !Object.hasOwn(model.wire.fields, key) || inner !== undefined && hidesIn(inner, seen)
  })
}

/** How often a model that hides something may stand within itself for the inner ones to be seen by a pipeline. */
const maxRecursion = 3

const visiblePaths = (model: ModelLike, prefix: string, around: ReadonlyArray<ModelLike>): ReadonlyArray<string> =>
  Object.keys(model.wire.fields).flatMap((key) => {
    if (key === "_type" || !Object.hasOwn(model.store.fields, key)) return []
    const inner = nestedModel(model.store.fields[key])
    if (inner === undefined || !hides(inner)) return [prefix + key]
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
