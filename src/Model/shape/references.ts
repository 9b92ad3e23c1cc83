/** References: fields that hold identifiers of another model's documents, and where a model has them. */
import { memoize } from "effect/Function"
import * as SchemaAST from "effect/SchemaAST"
import type { BackReference } from "./annotations.ts"
import { nodesIn } from "./fold.ts"
import { childrenOf } from "./nodes.ts"
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
}

/** @internal */
export interface ReferringField extends Reference {
  /** The names of the fields that lead to the reference, through lists too. */
  readonly path: ReadonlyArray<string>
  /** Whether the document is valid without the reference: it is an item of a list, or may be absent. */
  readonly isRemovable: boolean
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
  referencesIn(model, [], [])
)

/** The references of other models to the documents of a model, by their names here. @internal */
export const backReferencesOf = (model: ModelLike): ReadonlyArray<BackReference & { readonly name: string }> =>
  Object.entries(model[modelTypeId]).flatMap(([name, { referencedBy }]) =>
    referencedBy === undefined ? [] : [{ ...referencedBy, name }]
  )

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
  outer: ReadonlyArray<ModelLike>
): ReadonlyArray<ReferringField> => {
  const found: Array<ReferringField> = []
  const followed = new Set<SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST, path: ReadonlyArray<string>, isRemovable: boolean): void => {
    const reference = referenceOf(ast)
    if (reference !== undefined) {
      found.push({ ...reference, path, isRemovable })
      return
    }
    const inner = modelOf(ast)
    if (inner !== undefined) {
      if (![model, ...outer].includes(inner)) found.push(...referencesIn(inner, path, [model, ...outer]))
      return
    }
    switch (ast._tag) {
      case "Arrays":
        for (const item of [...ast.elements, ...ast.rest]) visit(item, path, ast.elements.length === 0)
        return
      case "Objects":
        for (const { name, type } of ast.propertySignatures) {
          visit(type, [...path, String(name)], SchemaAST.isOptional(type))
        }
        for (const { type } of ast.indexSignatures) {
          if (holdsReference(type)) {
            die(`${model.modelName}.${path.join(".")} is a record, in which no path leads to references`)
          }
        }
        return
      case "Union":
        for (const type of ast.types) visit(type, path, isRemovable || ast.types.some(({ _tag }) => _tag === "Null"))
        return
      case "Suspend":
        if (followed.has(ast)) return
        followed.add(ast)
        visit(ast.thunk(), path, isRemovable)
    }
  }
  for (const [name, schema] of Object.entries(model.store.fields)) {
    // Every struct field is a schema.
    const { ast } = schema as { readonly ast: SchemaAST.AST }
    visit(ast, [...prefix, name], SchemaAST.isOptional(ast))
  }
  return found
}

const holdsReference = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, false)).some((node) => referenceOf(node) !== undefined)
