import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { storableAnnotation } from "../shape/annotations.ts"
import { isKind } from "../shape/fields.ts"
import { childrenOf, withParts } from "../shape/nodes.ts"
import { type ModelLike, modelTypeId, nestedModel } from "../shape/variants.ts"

/**
 * What a caller may send, without the rules that the stored values have as well: whoever writes over a document asks them
 * again, of the values that differ. Fields that the framework manages keep theirs.
 *
 * @internal
 */
export const withoutRules = (model: ModelLike, variant: "create" | "patch"): Schema.Struct<Schema.Struct.Fields> => {
  const rules = new Set<SchemaAST.Check<never>>()
  collect(model, rules, new Set())
  const strip = stripper(rules)
  return Schema.Struct(
    Object.fromEntries(
      Object.entries(model[variant].fields).map(([name, field]) => [
        name,
        // A field of a struct is a schema.
        model[modelTypeId][name]?.managed === undefined ? Schema.make(strip((field as Schema.Top).ast)) : field
      ])
    )
  )
}

/** What tells kinds of values apart is no rule: a codec may rely on it. */
const isRule = (check: SchemaAST.Check<never>): boolean =>
  !isKind(check, "isInt") && !isKind(check, "isFinite") && check.annotations?.[storableAnnotation] !== true

const collect = (model: ModelLike, rules: Set<SchemaAST.Check<never>>, seen: Set<unknown>): void => {
  if (seen.has(model)) return
  seen.add(model)
  const visit = (ast: SchemaAST.AST): void => {
    if (seen.has(ast)) return
    seen.add(ast)
    for (const check of ast.checks ?? []) if (isRule(check)) rules.add(check)
    for (const part of childrenOf(ast, false)) visit(part)
  }
  for (const field of Object.values(model.store.fields)) {
    const inner = nestedModel(field)
    if (inner !== undefined) collect(inner, rules, seen)
    // A field of a struct is a schema.
    visit(SchemaAST.toType((field as Schema.Top).ast))
  }
}

/** Takes the checks away from the values; what they are decoded from keeps its own. */
const stripper = (rules: ReadonlySet<SchemaAST.Check<never>>): (ast: SchemaAST.AST) => SchemaAST.AST => {
  const known = new Map<SchemaAST.AST, SchemaAST.AST>()
  const strip = (ast: SchemaAST.AST): SchemaAST.AST => {
    const stripped = known.get(ast) ?? stripParts(withoutChecks(ast))
    known.set(ast, stripped)
    return stripped
  }
  const withoutChecks = (ast: SchemaAST.AST): SchemaAST.AST => {
    const kept = ast.checks?.filter((check) => !rules.has(check))
    return kept === undefined || kept.length === ast.checks?.length
      ? ast
      : withParts(ast, { checks: kept.length === 0 ? undefined : kept })
  }
  const stripParts = (ast: SchemaAST.AST): SchemaAST.AST => {
    switch (ast._tag) {
      case "Arrays":
        return withParts(ast, { elements: ast.elements.map(strip), rest: ast.rest.map(strip) })
      case "Objects":
        return withParts(ast, {
          propertySignatures: ast.propertySignatures.map(({ name, type }) =>
            new SchemaAST.PropertySignature(name, strip(type))
          ),
          indexSignatures: ast.indexSignatures.map(({ parameter, type }) =>
            new SchemaAST.IndexSignature(parameter, strip(type))
          )
        })
      case "Union":
        return withParts(ast, { types: ast.types.map(strip) })
      case "Suspend":
        return new SchemaAST.Suspend(() => strip(ast.thunk()), ast.annotations, ast.checks, ast.encoding, ast.context)
      default:
        return ast
    }
  }
  return strip
}
