/** Generated values that are chosen among others. */
import { Arbitrary, Schema } from "effect"

export type Some<A> = Arbitrary.Arbitrary<A>

/** An integer from 0. */
export const upTo = (maximum: number): Some<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

export const either = <A>(...choices: ReadonlyArray<Some<A>>): Some<A> =>
  // The number is an index into the list.
  Arbitrary.flatMap(upTo(choices.length - 1), (place) => choices[place] as Some<A>)

export const oneOf = <const A>(...values: ReadonlyArray<A>): Some<A> =>
  either(...values.map((value) => Arbitrary.Constant(value)))
