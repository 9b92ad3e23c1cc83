/** References: fields that hold identifiers of another model's documents, and where a model has them. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { BackReference, Embed } from "./annotations.ts"
import { childrenOf, nodesIn } from "./nodes.ts"
import { die, type ModelLike, modelOf, modelTypeId } from "./variants.ts"

/** What a deletion does to referring documents: it is refused, removes the reference, or deletes them. */
export type OnDelete = "restrict" | "null" | "cascade"

/** @internal */
export const referenceAnnotation = "appkernel/reference"

/** @internal */
export interface Reference {
  /** The model that the identifiers are of. Its class may not exist yet while another one is declared. */
  readonly target: () => ModelLike
  readonly onDelete: OnDelete | undefined
  readonly isChecked: boolean
  readonly embed: Embed
}

/** @internal */
export interface ReferringField extends Reference {
  /** The names of the fields that lead to the reference, through lists too. */
  readonly path: ReadonlyArray<string>
  /** Whether the document is valid without the reference: it is an item of a list, or may be absent, or `null` in its place. */
  readonly isRemovable: boolean | "null"
  /** Whether the path leads through a list. */
  readonly isList: boolean
}

/** The reference that a schema is. @internal */
export const referenceOf = (ast: SchemaAST.AST): Reference | undefined => {
  const reference: unknown = ast.annotations?.[referenceAnnotation]
  // Only `Model.reference` writes this annotation.
  return reference as Reference | undefined
}

/**
 * The references of a model's documents, those of nested models included. A model within itself is followed once.
 *
 * @internal
 */
export const referencesOf: (model: ModelLike) => ReadonlyArray<ReferringField> = memoize((model) =>
  referencesIn(model, [], [], false)
)

/** The references of other models to the documents of a model, by their names here. @internal */
export const backReferencesOf = (model: ModelLike): ReadonlyArray<BackReference & { readonly name: string }> =>
  Object.entries(model[modelTypeId]).flatMap(([name, { referencedBy }]) =>
    referencedBy === undefined ? [] : [{ ...referencedBy, name }]
  )

/**
 * What is embedded in a document by `expand`. Models refer to each other, so it is made when it is needed. Documents have the schema
 * `document`, lists of them `collection`.
 *
 * @internal
 */
export const embed: Embed = (model, document, collection) =>
  Schema.suspend(() => {
    const known = model as ModelLike // every model has the structure of one
    const references = referencesOf(known).map(({ isList, path, target }) => {
      const one = document(target())
      return [path.join("."), isList ? Schema.Array(one) : one] as const
    })
    const lists = backReferencesOf(known).map(({ model: target, name }) => {
      const { fields } = collection(document(target()))
      return [name, Schema.Struct({ ...fields, total: Schema.Int })] as const
    })
    return Schema.Struct(Object.fromEntries(
      [...references, ...lists].map(([name, schema]) => [name, Schema.optionalKey<Schema.Codec<unknown>>(schema)])
    ))
  }).annotate({ identifier: `${model.modelName}Embedded` })

/** {@link embed}, if `expand` can name anything in the documents of the model. @internal */
export const embeddedOf = (
  model: ModelLike,
  ...schemas: Parameters<Embed> extends [unknown, ...infer Schemas] ? Schemas : never
): Schema.Codec<unknown> | undefined =>
  [
    ...nodesIn(model.wire.ast, (node) => childrenOf(node, false)).map(referenceOf),
    ...Object.values(model[modelTypeId]).map(({ referencedBy }) => referencedBy)
  ].find((one) => one !== undefined)?.embed(model, ...schemas)

/** Dies if a reference can't be removed although it has to be, or is not there. @internal */
export const assertReferences = (model: ModelLike): void => {
  for (const { field, model: referring, name } of backReferencesOf(model)) {
    // Every model has the structure of one.
    const found = referencesOf(referring() as ModelLike).find(({ path }) => path.join(".") === field)
    if (found?.target().modelName !== model.modelName) {
      die(`${model.modelName}.${name} needs a reference ${referring().modelName}.${field} to ${model.modelName}`)
    }
  }
  for (const { isRemovable, onDelete, path } of referencesOf(model)) {
    if (onDelete === "null" && !isRemovable) {
      die(`${model.modelName}.${path.join(".")} has onDelete "null", so it has to be optional or a list`)
    }
  }
}

/** The references of a model. `fold` does not fit, since the result for a node depends on its path. */
const referencesIn = (
  model: ModelLike,
  prefix: ReadonlyArray<string>,
  outer: ReadonlyArray<ModelLike>,
  isWithinList: boolean
): ReadonlyArray<ReferringField> => {
  const found: Array<ReferringField> = []
  const followed = new Set<SchemaAST.AST>()
  const visit = (
    ast: SchemaAST.AST,
    path: ReadonlyArray<string>,
    isRemovable: ReferringField["isRemovable"],
    isList: boolean
  ): void => {
    const reference = referenceOf(ast)
    if (reference !== undefined) {
      found.push({ ...reference, path, isRemovable, isList })
      return
    }
    const inner = modelOf(ast)
    if (inner !== undefined) {
      if (![model, ...outer].includes(inner)) found.push(...referencesIn(inner, path, [model, ...outer], isList))
      return
    }
    switch (ast._tag) {
      case "Arrays":
        for (const item of [...ast.elements, ...ast.rest]) visit(item, path, ast.elements.length === 0, true)
        return
      case "Objects":
        for (const { name, type } of ast.propertySignatures) {
          visit(type, [...path, String(name)], SchemaAST.isOptional(type), isList)
        }
        for (const { type } of ast.indexSignatures) {
          if (holdsReference(type)) {
            die(`${model.modelName}.${path.join(".")} is a record, in which no path leads to references`)
          }
        }
        return
      case "Union": {
        const removable = isRemovable || (ast.types.some(({ _tag }) => _tag === "Null") && "null")
        for (const type of ast.types) visit(type, path, removable, isList)
        return
      }
      case "Suspend":
        if (followed.has(ast)) return
        followed.add(ast)
        visit(ast.thunk(), path, isRemovable, isList)
    }
  }
  for (const [name, schema] of Object.entries(model.store.fields)) {
    // Every struct field is a schema.
    const { ast } = schema as { readonly ast: SchemaAST.AST }
    visit(ast, [...prefix, name], SchemaAST.isOptional(ast), isWithinList)
  }
  return found
}

const holdsReference = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, false)).some((node) => referenceOf(node) !== undefined)
