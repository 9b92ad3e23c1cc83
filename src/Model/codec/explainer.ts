/** Decodes request bodies, and lists the problems of an invalid one with bounds on their number and on the work. */
import * as Cause from "effect/Cause"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { ownOf } from "../../internal/objects.ts"
import { childrenOf, fold, nodesIn } from "../shape/nodes.ts"
import { compileParsers } from "./compiledParsers.ts"
import {
  compileDecoder,
  type Conversions,
  countAll,
  countConversions,
  countThoroughly,
  type Decode,
  invalid,
  isBeyond,
  isStruct,
  staysAbsent,
  textParserOf,
  unlimitedConversions,
  type Values
} from "./decoder.ts"
import { withLimitedDigits } from "./digits.ts"
import { type FieldProblem, problemsOf } from "./fieldProblems.ts"
import { jsonCodec } from "./jsonCodec.ts"
import { ownIn } from "./ownNames.ts"

export type Decoded =
  | { readonly _tag: "Valid"; readonly value: Values }
  | { readonly _tag: "Invalid"; readonly problems: ReadonlyArray<FieldProblem> }

/**
 * Decodes the JSON that a caller sent, or returns its problems, limited by {@link limitProblems}. What follows a value of the
 * same body, `isNext`, counts together with it.
 */
export const bodyDecoder = (schema: Schema.Top): (body: unknown, isNext?: boolean) => Decoded => {
  // Fields need no services.
  const codec = withLimitedDigits(jsonCodec(schema as unknown as Schema.Codec<Values>))
  compileParsers(codec.ast)
  const decode = compileDecoder(codec.ast)
  const decodeAll = SchemaParser.decodeUnknownExit(codec, allErrors)
  const own = ownIn(codec.ast)
  let explain: Explain | undefined
  const read = (body: unknown): Decoded => {
    countConversions(decoded)
    const value = decode(body)
    // A decoded struct is an object of its fields.
    if (value !== invalid) return { _tag: "Valid", value: value as Values }
    if (isBeyond(decoded)) return tooMany
    countConversions(explained)
    explain ??= partsExplainerOf(codec.ast)
    const count: Count = { examined: 0, skipped: 0 }
    const explanation = explain?.(body, count)
    if (typeof explanation === "object") {
      return { _tag: "Invalid", problems: limitProblems(problemsOf(explanation), count.skipped) }
    }
    if (isBeyond(explained) || !isExplainable(codec.ast, decode, body)) return unexplained
    const exit = decodeAll(own(body))
    if (exit._tag === "Success") return { _tag: "Valid", value: exit.value }
    const issue = Cause.findErrorOption(exit.cause)
    return { _tag: "Invalid", problems: issue._tag === "Some" ? limitProblems(problemsOf(issue.value)) : [] }
  }
  return (body, isNext = false) => {
    if (!isNext) {
      decoded = { values: 0, most: maxDecoded }
      // Explaining decodes the parts of what is invalid once more, at each of its levels.
      explained = { values: 0, most: 2 * maxDecoded }
    }
    const result = read(body)
    countConversions(unlimitedConversions)
    return result
  }
}

/** In one body. The most that take no longer than what else a body of the usual limit has. */
const maxDecoded = 5_000

let decoded: Conversions = { values: 0, most: maxDecoded }
let explained = decoded

const limited = (message: string): Decoded => ({
  _tag: "Invalid",
  problems: [{ field: "", validator: "Limit", message }]
})

const tooMany = limited(
  `must not have more than ${maxDecoded} names of records and values that have to be converted or read in several ways`
)

const unexplained = limited(
  "has too many values that have to be converted or read in several ways to say which are not valid"
)

/**
 * The first hundred problems, and a last entry that counts the others. The count is a lower bound, since nested values
 * are not examined once the limit is reached. `more` counts problems that are not in `problems` at all.
 */
export const limitProblems = (problems: ReadonlyArray<FieldProblem>, more = 0): ReadonlyArray<FieldProblem> => {
  const listed = problems.filter((problem) => !isRemainder(problem))
  const unlisted = problems.reduce((sum, problem) => isRemainder(problem) ? sum + problem.count : sum, more) +
    Math.max(0, listed.length - maxListed)
  if (unlisted === 0) return problems
  const remainder: Remainder = {
    field: "",
    validator: "More",
    message: `at least ${unlisted} more ${unlisted === 1 ? "problem is" : "problems are"} not listed`,
    count: unlisted
  }
  return [...listed.slice(0, maxListed), remainder]
}

const maxListed = 100

/** The values that are converted only to count what is not listed. */
const maxSkipped = 1_000

/** Stands for the problems that are not listed. */
interface Remainder extends FieldProblem {
  readonly count: number
}

const isRemainder = (problem: FieldProblem): problem is Remainder => problem.validator === "More" && "count" in problem

/** The number of examined problems, and of invalid values that were not examined. */
interface Count {
  examined: number
  skipped: number
}

/**
 * Finds all issues of a value like the schema's parser, but faster: it examines only the invalid parts, up to the
 * limit. Returns `unclear` if only the parser can explain the complete value, and `none` if the parts have no issue.
 */
type Explain = (input: unknown, count: Count) => Explanation

type Explanation = SchemaIssue.Issue | "none" | "unclear"

const allErrors: SchemaAST.ParseOptions = { errors: "all" }

/** `undefined` if the schema has no parts that can be explained separately. */
const partsExplainerOf: (ast: SchemaAST.AST) => Explain | undefined = fold<Explain | undefined>({
  first: (ast, byCase) => ast.encoding === undefined ? byCase() : undefined,
  Objects: (ast) => isStruct(ast) ? structExplainerOf(ast) : undefined,
  Arrays: (ast) => ast.elements.length === 0 && ast.rest.length === 1 ? listExplainerOf(ast, ast.rest[0]!) : undefined,
  Union: (ast) => {
    // An optional value may be `null`, which has no parts.
    const [other, ...others] = ast.types.filter((type) => type._tag !== "Null")
    return other === undefined || others.length > 0 ? undefined : partsExplainerOf(other)
  },
  Suspend: (inner) => (input, count) => inner()?.(input, count) ?? "none",
  otherwise: () => undefined
})

const structExplainerOf = (ast: SchemaAST.Objects): Explain => {
  const fields = ast.propertySignatures.map(fieldExplainerOf)
  const own = ownOf(ast.propertySignatures.map(({ name }) => String(name)))
  return (input, count) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return "none"
    const issues: Array<SchemaIssue.Issue> = []
    const properties = own(input)
    for (let i = 0; i < fields.length; i++) {
      // Reading a missing property of an object is safe.
      const explanation = fields[i]!(properties, count)
      if (explanation === "unclear") return "unclear"
      if (explanation !== "none") issues.push(explanation)
    }
    return composite(ast, issues, input)
  }
}

const listExplainerOf = (ast: SchemaAST.Arrays, element: SchemaAST.AST): Explain => {
  const decode = compileDecoder(element)
  const explain = explainerOf(element, decode)
  return (input, count) => {
    if (!Array.isArray(input)) return "none"
    const issues: Array<SchemaIssue.Issue> = []
    for (let i = 0; i < input.length; i++) {
      if (decode(input[i]) !== invalid) continue
      // What is not decoded may be valid.
      if (isBeyond(explained)) break
      if (count.examined >= maxListed) {
        explained.most = Math.min(explained.most, explained.values + maxSkipped)
        count.skipped++
        continue
      }
      const explanation = explain(input[i], count)
      if (explanation === "unclear") return "unclear"
      if (explanation !== "none") issues.push(new SchemaIssue.Pointer([i], explanation))
    }
    return composite(ast, issues, input)
  }
}

const composite = (ast: SchemaAST.AST, issues: ReadonlyArray<SchemaIssue.Issue>, input: unknown): Explanation => {
  const [first, ...others] = issues
  return first === undefined ? "none" : new SchemaIssue.Composite(ast, [first, ...others], input, allErrors)
}

/** Explains the parts of a value, or the complete value if its parts have no issue. */
const explainerOf = (ast: SchemaAST.AST, decode: Decode): Explain => {
  const explainParts = partsExplainerOf(ast)
  // Fields need no services.
  const parse = SchemaParser.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast), allErrors)
  const own = ownIn(ast)
  return (value, count) => {
    const inParts = explainParts?.(value, count) ?? "none"
    if (inParts !== "none") return inParts
    if (!countAll(value) || !isExplainable(ast, decode, value)) return "none"
    const exit = parse(own(value))
    if (exit._tag === "Success") return "none"
    count.examined++
    const issue = Cause.findErrorOption(exit.cause)
    return issue._tag === "Some" && exit.cause.reasons.length === 1 ? issue.value : "unclear"
  }
}

/** Whether Effect's parser lists the errors of a value in time: it tries each member of each union in a recursive one. */
const isExplainable = (ast: SchemaAST.AST, decode: Decode, value: unknown): boolean =>
  !isRecursive(ast) || countThoroughly(decode, value)

const isRecursive = /* @__PURE__ */ memoize((ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, false)).some(({ _tag }) => _tag === "Suspend")
)

const fieldExplainerOf = (
  { name, type }: SchemaAST.PropertySignature
): (properties: Values, count: Count) => Explanation => {
  const key = String(name)
  const at = (explanation: Explanation): Explanation =>
    typeof explanation === "object" ? new SchemaIssue.Pointer([key], explanation) : explanation
  const decode = compileDecoder(type)
  const explain = explainerOf(type, decode)
  const absent = SchemaAST.isOptional(type) ? "none" : at(new SchemaIssue.MissingKey(type.context?.annotations))
  const absence = staysAbsent(type) ? absent : "unclear"
  const toMillis = textParserOf(type)
  // Every text that is no date has the same issue, which is expensive to compute.
  const invalidDate = toMillis === undefined ? "unclear" : at(explain("", { examined: 0, skipped: 0 }))
  return (properties, count) => {
    const value = properties[key]
    if (value === undefined && !(key in properties)) {
      if (absence !== "none") count.examined++
      return absence
    }
    if (decode(value) !== invalid) return "none"
    if (toMillis === undefined || typeof value !== "string" || toMillis(value) !== undefined) {
      return at(explain(value, count))
    }
    count.examined++
    return invalidDate
  }
}
