/**
 * Schemas that check only the structure of sent values. A write over a document validates the changed values
 * afterwards.
 */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { definesKind } from "../shape/fields.ts"
import { withChecksThat, withParts } from "../shape/nodes.ts"
import { type ModelLike, modelOf, modelTypeId } from "../shape/variants.ts"

/**
 * The schema of what a caller may send, without the checks that the stored value has at the same place: a write over a
 * document validates the values that differ from the stored ones.
 *
 * A check stays if nothing repeats it, or if it decides how a value is decoded: that of a managed field, of a field with
 * a converter (it applies to the value before the conversion), of a member of a union, and of the keys of a record.
 */
export const withoutRules = (model: ModelLike, variant: "create" | "patch"): Schema.Struct<Schema.Struct.Fields> => {
  const strip = stripper()
  return Schema.Struct(
    Object.fromEntries(
      Object.entries(model[variant].fields).map(([name, field]) => {
        const stored = storedFieldOf(model, name)
        // A field of a struct is a schema.
        return [name, stored === undefined ? field : Schema.make(strip((field as Schema.Top).ast, placeOf(stored)))]
      })
    )
  )
}

/** A place in the stored type: the node of its values, and the rules that apply to each of them. */
interface Place {
  readonly ast: SchemaAST.AST
  readonly rules: ReadonlyArray<SchemaAST.Check<never>>
}

/** The stored type of a field; `undefined` if the checks of what is sent stay. */
const storedFieldOf = (model: ModelLike, name: string): SchemaAST.AST | undefined => {
  const { converter, managed } = model[modelTypeId][name] ?? {}
  const field = model.store.fields[name]
  return field === undefined || managed !== undefined || converter !== undefined
    ? undefined
    // A field of a struct is a schema.
    : SchemaAST.toType((field as Schema.Top).ast)
}

const placeOf = (ast: SchemaAST.AST): Place => {
  const rules: Array<SchemaAST.Check<never>> = []
  for (let node = ast;;) {
    rules.push(...(node.checks ?? []).filter((check) => !definesKind(check)))
    const inner = node._tag === "Suspend" ? node.thunk() : onlyMember(node)
    if (inner === undefined) return { ast: node, rules }
    node = inner
  }
}

const isNothing = ({ _tag, encoding }: SchemaAST.AST): boolean =>
  (_tag === "Null" || _tag === "Undefined") && encoding === undefined

/** The member of a union that stands for all its values except `null` and `undefined`. */
const onlyMember = (ast: SchemaAST.AST): SchemaAST.AST | undefined => {
  if (ast._tag !== "Union") return undefined
  const [only, ...others] = ast.types.filter((type) => !isNothing(type))
  return others.length === 0 ? only : undefined
}

/** Removes the checks of the values, not of what they are decoded from. No fold: two schemas are traversed. */
const stripper = (): (ast: SchemaAST.AST, place: Place) => SchemaAST.AST => {
  const strip = (ast: SchemaAST.AST, place: Place): SchemaAST.AST =>
    stripParts(withChecksThat(ast, (check) => !place.rules.includes(check)), place)
  // A recursive type reaches the same pair of nodes again.
  const stripBy = memoize((stored: SchemaAST.AST) => memoize((ast: SchemaAST.AST) => strip(ast, placeOf(stored))))
  const stripAt = (ast: SchemaAST.AST, stored: SchemaAST.AST | undefined): SchemaAST.AST =>
    stored === undefined ? ast : stripBy(stored)(ast)
  const stripParts = (ast: SchemaAST.AST, place: Place): SchemaAST.AST => {
    const stored = place.ast
    switch (ast._tag) {
      case "Arrays":
        return stored._tag !== "Arrays" ? ast : withParts(ast, {
          elements: ast.elements.map((element, i) => stripAt(element, stored.elements[i])),
          rest: ast.rest.map((element, i) => stripAt(element, stored.rest[i]))
        })
      case "Objects": {
        const typeOf = propertiesOf(stored)
        return withParts(ast, {
          propertySignatures: ast.propertySignatures.map(({ name, type }) =>
            new SchemaAST.PropertySignature(name, stripAt(type, typeOf(name)))
          ),
          indexSignatures: ast.indexSignatures.map(({ parameter, type }, i) =>
            new SchemaAST.IndexSignature(
              parameter,
              stripAt(type, stored._tag === "Objects" ? stored.indexSignatures[i]?.type : undefined)
            )
          )
        })
      }
      case "Union":
        return onlyMember(ast) === undefined
          ? ast
          : withParts(ast, { types: ast.types.map((type) => isNothing(type) ? type : strip(type, place)) })
      case "Suspend":
        return new SchemaAST.Suspend(
          () => stripAt(ast.thunk(), stored),
          ast.annotations,
          ast.checks,
          ast.encoding,
          ast.context
        )
      default:
        return ast
    }
  }
  return strip
}

const propertiesOf = (stored: SchemaAST.AST): (name: PropertyKey) => SchemaAST.AST | undefined => {
  const model = modelOf(stored)
  if (model !== undefined) return (name) => storedFieldOf(model, String(name))
  return (name) =>
    stored._tag === "Objects"
      ? stored.propertySignatures.find((property) => property.name === name)?.type
      : undefined
}
