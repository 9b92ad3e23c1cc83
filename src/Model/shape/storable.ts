import type * as SchemaAST from "effect/SchemaAST"
import { childrenOf } from "./nodes.ts"
import { isBson, jsonLinkOf, nameOf } from "./storedForm.ts"
import { die, isName, modelOf } from "./variants.ts"

/**
 * The reason why values of a schema can't be stored, or can't be shown to a caller if they are visible. `undefined` if
 * there is none.
 */
const storageProblem = (ast: SchemaAST.AST, options: {
  /** Whether callers see the values. */
  readonly isVisible: boolean
  /** Whether to follow suspended schemas. They can't be resolved while their class is being declared. */
  readonly suspended: boolean
}): string | undefined => findProblem(ast, options, new Set())

/**
 * Dies if values of the field can't be stored or can't be shown.
 *
 * @internal
 */
export const assertStorable = (model: string, field: string, ast: SchemaAST.AST, options: Options): void => {
  const problem = storageProblem(ast, options)
  if (problem !== undefined) die(`${model}.${field} holds ${problem}`)
}

type Options = Parameters<typeof storageProblem>[1]

const findProblem = (ast: SchemaAST.AST, options: Options, seen: Set<SchemaAST.AST>): string | undefined => {
  if (seen.has(ast)) return undefined
  seen.add(ast)
  // A model is checked at its own declaration.
  if (modelOf(ast) !== undefined) return undefined
  const end = ast.encoding?.at(-1)?.to
  const [own, parts] = end === undefined ? encodedProblem(ast, options) : [redactionProblem(ast, options), [end]]
  if (own !== undefined) return own
  for (const part of parts) {
    const problem = findProblem(part, options, seen)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The problem of a node without an encoding, and the children to check next. */
const encodedProblem = (
  ast: SchemaAST.AST,
  options: Options
): readonly [problem: string | undefined, parts: ReadonlyArray<SchemaAST.AST>] => {
  switch (ast._tag) {
    case "Symbol":
    case "UniqueSymbol":
      return ["a symbol, which can't be stored", []]
    case "Declaration":
      return declarationProblem(ast, options)
    case "Objects":
      return [keyProblem(ast), childrenOf(ast, options.suspended)]
    default:
      return [undefined, childrenOf(ast, options.suspended)]
  }
}

const declarationProblem = (
  ast: SchemaAST.Declaration,
  options: Options
): readonly [problem: string | undefined, parts: ReadonlyArray<SchemaAST.AST>] => {
  const redacted = redactionProblem(ast, options)
  if (redacted !== undefined) return [redacted, []]
  const json = jsonLinkOf(ast)
  if (json === undefined) {
    return isBson(ast) && !options.isVisible ? [undefined, []] : [
      "values of a declared type that has no JSON form: annotate it with `toCodecJson`" +
      (isBson(ast) ? ", or pipe it through `Model.omitted`" : ""),
      []
    ]
  }
  // The content of these types can only be read asynchronously.
  if (asynchronousTypes.has(nameOf(ast))) return ["files, which can't be stored", []]
  return [undefined, isBson(ast) || json.link === undefined ? [] : [json.link.to]]
}

const asynchronousTypes: ReadonlySet<unknown> = new Set(["effect/schema/File", "effect/schema/FormData"])

/** A redacted value must not reach a caller. */
const redactionProblem = (ast: SchemaAST.AST, { isVisible }: Options): string | undefined =>
  isVisible && nameOf(ast) === "effect/schema/Redacted"
    ? "redacted values, which no caller may see: pipe it through `Model.omitted`"
    : undefined

const keyProblem = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): string | undefined => {
  if (propertySignatures.some(({ name }) => typeof name === "symbol")) {
    return "a symbol as a name, which can't be stored"
  }
  if (indexSignatures.some(({ parameter }) => parameter._tag === "Symbol")) {
    return "symbols as names, which can't be stored"
  }
  const invalidName = propertySignatures.find(({ name }) => !isName(String(name)))
  return invalidName === undefined ? undefined : `the name "${String(invalidName.name)}", which no path leads to`
}
