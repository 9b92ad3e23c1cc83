/** How documents are written for a caller who does not see all fields, or who has selected some. */
import { memoize } from "effect/Function"
import * as SchemaAST from "effect/SchemaAST"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { mapParts, withParts } from "../shape/nodes.ts"
import { type FieldNames, isAmongFields, modelWithout } from "../shape/restrictedModel.ts"
import type { ModelLike } from "../shape/variants.ts"
import { compileSerialiser, type Serialiser } from "./serialiser.ts"

/** How documents without some fields are written. */
export interface DocumentForm {
  readonly serialise: Serialiser
  readonly selected: (fields: ReadonlyArray<string>) => Serialiser
  /** Whether documents are written with the field, or the part of one: `lines.cost`. */
  readonly shows: (field: string) => boolean
}

/** The form of the model's documents without the hidden fields, compiled once. */
export const formWithout = (model: ModelLike, hidden: FieldNames): DocumentForm =>
  forms(model).getOrMake(hidden.join(), () => {
    const shown = modelWithout(model, hidden)
    return {
      serialise: compileSerialiser(shown),
      selected: selectionSerialisers(shown),
      shows: (field) => {
        const dot = field.indexOf(".")
        const first = dot < 0 ? field : field.slice(0, dot)
        return Object.hasOwn(shown.wire.fields, first) && !isAmongFields(field, hidden)
      }
    }
  })

const maxForms = 256

const forms = memoize(() => new BoundedCache<DocumentForm>(maxForms))

// internal

/** Serialisers for subsets of a model's fields, compiled at first use; the last 256 are cached. */
const selectionSerialisers = (model: ModelLike): (fields: ReadonlyArray<string>) => Serialiser => {
  const compiled = new BoundedCache<Serialiser>(maxSelections)
  const ast = SchemaAST.toEncoded(model.wire.ast)
  return (fields) =>
    compiled.getOrMake(fields.join(), () => {
      const part = partOf(ast, branchesOf(fields))
      // The serialiser reads only this variant of a model.
      return compileSerialiser({ wire: { ast: part, fields: {} } } as unknown as ModelLike)
    })
}

const maxSelections = 256

/** The selected fields by name: complete, or with a selection of nested fields. */
interface Branches extends ReadonlyMap<string, Branches | "whole"> {}

const branchesOf = (fields: ReadonlyArray<string>): Branches => {
  const inner = new Map<string, Array<string> | "whole">()
  for (const field of fields) {
    const dot = field.indexOf(".")
    const key = dot < 0 ? field : field.slice(0, dot)
    const others = inner.get(key) ?? []
    inner.set(key, dot < 0 || others === "whole" ? "whole" : [...others, field.slice(dot + 1)])
  }
  return new Map(Array.from(inner, ([key, rest]) => [key, rest === "whole" ? rest : branchesOf(rest)] as const))
}

const partOf = (ast: SchemaAST.AST, branches: Branches): SchemaAST.AST =>
  ast._tag !== "Objects" ? mapParts(ast, (part) => partOf(part, branches)) : withParts(ast, {
    propertySignatures: ast.propertySignatures.flatMap(({ name, type }) => {
      const inner = name === "_type" ? "whole" : branches.get(String(name))
      return inner === undefined
        ? []
        : [new SchemaAST.PropertySignature(name, inner === "whole" ? type : partOf(type, inner))]
    })
  })
