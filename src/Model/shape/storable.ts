/** Rejects fields at their declaration whose values could not be stored or shown, such as symbols or files. */
import type * as SchemaAST from "effect/SchemaAST"
import { childrenOf, nodesIn } from "./nodes.ts"
import { isBson, jsonLinkOf, nameOf } from "./storedForm.ts"
import { die, isName, modelOf } from "./variants.ts"

/** Who sees the values of a schema, and how far to look into it. */
interface Options {
  /** Whether callers see the values. */
  readonly isVisible: boolean
  /** Whether to follow suspended schemas. They can't be resolved while their class is being declared. */
  readonly suspended: boolean
}

/** Dies if values of the field can't be stored or can't be shown. */
export const assertStorable = (model: string, field: string, ast: SchemaAST.AST, options: Options): void => {
  const problem = storageProblem(ast, options)
  if (problem !== undefined) die(`${model}.${field} holds ${problem}`)
}

/** Why values of a schema can't be stored, or shown to a caller if visible; `undefined` if they can. */
const storageProblem = (ast: SchemaAST.AST, options: Options): string | undefined =>
  nodesIn(ast, (node) => storedParts(node, options))
    .map((node) => nodeProblem(node, options))
    .find((problem) => problem !== undefined)

/** The children whose values are stored. A model is checked at its own declaration. */
const storedParts = (ast: SchemaAST.AST, { suspended }: Options): ReadonlyArray<SchemaAST.AST> => {
  if (modelOf(ast) !== undefined) return []
  const end = ast.encoding?.at(-1)?.to
  if (end !== undefined) return [end]
  if (ast._tag !== "Declaration") return childrenOf(ast, suspended)
  const link = jsonLinkOf(ast)?.link
  return isBson(ast) || link === undefined ? [] : [link.to]
}

const nodeProblem = (ast: SchemaAST.AST, options: Options): string | undefined => {
  if (modelOf(ast) !== undefined) return undefined
  if (ast.encoding !== undefined) return redactionProblem(ast, options)
  switch (ast._tag) {
    case "Symbol":
    case "UniqueSymbol":
      return "a symbol, which can't be stored"
    case "Declaration":
      return redactionProblem(ast, options) ?? declarationProblem(ast, options)
    case "Objects":
      return keyProblem(ast)
    default:
      return undefined
  }
}

const declarationProblem = (ast: SchemaAST.Declaration, options: Options): string | undefined => {
  if (jsonLinkOf(ast) === undefined) {
    return isBson(ast) && !options.isVisible
      ? undefined
      : "values of a declared type that has no JSON form: annotate it with `toCodecJson`" +
        (isBson(ast) ? ", or pipe it through `Model.omitted`" : "")
  }
  // The content of these types can only be read asynchronously.
  return asynchronousTypes.has(nameOf(ast)) ? "files, which can't be stored" : undefined
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
