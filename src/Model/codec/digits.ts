/** Texts of numbers of any size, which take the square of their length to convert. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { mapParts, withParts } from "../shape/nodes.ts"
import { nameOf } from "../shape/storedForm.ts"

/** Of a text that becomes a number. What a store can hold has 34 that count, and an exponent. */
const maxDigits = 2_000

/** The codec with a limit of the digits of integers and decimals of any size, before they are converted. */
export const withLimitedDigits = <S extends Schema.Top>(codec: S): S =>
  // It differs in checks only.
  Schema.make<Schema.Top>(limited(codec.ast)) as unknown as S

// internal

// A recursive schema has one form.
const limited: (ast: SchemaAST.AST) => SchemaAST.AST = memoize((ast: SchemaAST.AST): SchemaAST.AST => {
  const own = mapParts(ast, limited)
  if (ast.encoding === undefined) return own
  const links = ast.encoding.map(({ to, transformation }, i) => {
    const source = limited(to)
    const isOfNumber = isLarge(i === 0 ? ast : ast.encoding![i - 1]!.to)
    return isOfNumber && source._tag === "String" ?
      new SchemaAST.Link(short(source), transformation)
      : source === to
      ? ast.encoding![i]!
      : new SchemaAST.Link(source, transformation)
  })
  return withParts(own, { encoding: links })
})

/** Whether values are of any size. */
const isLarge = (ast: SchemaAST.AST): boolean => ast._tag === "BigInt" || nameOf(ast) === "effect/schema/BigDecimal"

const short = (text: SchemaAST.String): SchemaAST.AST => withParts(text, { checks: [isShort, ...text.checks ?? []] })

const isShort = Schema.makeFilter((text: string) => text.length <= maxDigits, {
  expected: `a number of at most ${maxDigits} digits`
})
