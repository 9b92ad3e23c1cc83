import type * as SchemaAST from "effect/SchemaAST"
import { partsOf } from "./nodes.ts"
import { isBson, jsonLinkOf, nameOf } from "./storedForm.ts"
import { die, isName, modelOf } from "./variants.ts"

/**
 * The reason why values of a schema can't be stored, or can't be shown to a caller if they are visible. `undefined` if
 * there is none.
 */
const obstacleIn = (ast: SchemaAST.AST, options: {
  /** Whether callers see the values. */
  readonly isVisible: boolean
  /** Whether to follow suspended schemas. They can't be resolved while their class is being declared. */
  readonly suspended: boolean
}): string | undefined => obstacle(ast, options, new Set())

/**
 * Dies if values of the field can't be stored or can't be shown.
 *
 * @internal
 */
export const assertStorable = (model: string, field: string, ast: SchemaAST.AST, options: Options): void => {
  const found = obstacleIn(ast, options)
  if (found !== undefined) die(`${model}.${field} holds ${found}`)
}

type Options = Parameters<typeof obstacleIn>[1]

const obstacle = (ast: SchemaAST.AST, options: Options, seen: Set<SchemaAST.AST>): string | undefined => {
  if (seen.has(ast)) return undefined
  seen.add(ast)
  // A model is checked at its own declaration.
  if (modelOf(ast) !== undefined) return undefined
  const end = ast.encoding?.at(-1)?.to
  const [own, parts] = end === undefined ? atEnd(ast, options) : [hiding(ast, options), [end]]
  if (own !== undefined) return own
  for (const part of parts) {
    const found = obstacle(part, options, seen)
    if (found !== undefined) return found
  }
  return undefined
}

/** The problem of a node without an encoding, and the children to check next. */
const atEnd = (
  ast: SchemaAST.AST,
  options: Options
): readonly [problem: string | undefined, parts: ReadonlyArray<SchemaAST.AST>] => {
  switch (ast._tag) {
    case "Symbol":
    case "UniqueSymbol":
      return ["a symbol, which can't be stored", []]
    case "Declaration":
      return declared(ast, options)
    case "Objects":
      return [unnameable(ast), partsOf(ast, options.suspended)]
    default:
      return [undefined, partsOf(ast, options.suspended)]
  }
}

const declared = (
  ast: SchemaAST.Declaration,
  options: Options
): readonly [problem: string | undefined, parts: ReadonlyArray<SchemaAST.AST>] => {
  const hidden = hiding(ast, options)
  if (hidden !== undefined) return [hidden, []]
  const json = jsonLinkOf(ast)
  if (json === undefined) {
    return isBson(ast) && !options.isVisible ? [undefined, []] : [
      "values of a declared type that has no JSON form: annotate it with `toCodecJson`" +
      (isBson(ast) ? ", or pipe it through `Model.omitted`" : ""),
      []
    ]
  }
  // The content of these types can only be read asynchronously.
  if (waiting.has(nameOf(ast))) return ["files, which can't be stored", []]
  return [undefined, isBson(ast) || json.link === undefined ? [] : [json.link.to]]
}

const waiting: ReadonlySet<unknown> = new Set(["effect/schema/File", "effect/schema/FormData"])

/** A redacted value must not reach a caller. */
const hiding = (ast: SchemaAST.AST, { isVisible }: Options): string | undefined =>
  isVisible && nameOf(ast) === "effect/schema/Redacted"
    ? "redacted values, which no caller may see: pipe it through `Model.omitted`"
    : undefined

const unnameable = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): string | undefined => {
  if (propertySignatures.some(({ name }) => typeof name === "symbol")) {
    return "a symbol as a name, which can't be stored"
  }
  if (indexSignatures.some(({ parameter }) => parameter._tag === "Symbol")) {
    return "symbols as names, which can't be stored"
  }
  const odd = propertySignatures.find(({ name }) => !isName(String(name)))
  return odd === undefined ? undefined : `the name "${String(odd.name)}", which no path leads to`
}
