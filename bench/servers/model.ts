/**
 * The model of our servers.
 */
import { Generator, Model, Validator } from "appkernel"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import type { Product } from "../data.ts"

class Dimensions extends Model.Class<Dimensions>()("Dimensions", {
  width: Schema.Finite.pipe(Validator.min(0)),
  height: Schema.Finite.pipe(Validator.min(0)),
  depth: Schema.Finite.pipe(Validator.min(0))
}) {}

/** The fields of a product. */
export const fields = {
  id: Model.id({ prefix: "P" }),
  code: Schema.String.pipe(Validator.notEmpty),
  name: Schema.String.pipe(Validator.notEmpty),
  description: Schema.String.pipe(Model.optional),
  price: Schema.Finite.pipe(Validator.min(0)),
  currency: Schema.Literals(["EUR", "CHF", "USD"]),
  stock: Schema.Int.pipe(Validator.min(0)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  dimensions: Dimensions.pipe(Model.optional),
  added: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}

/** What a product is made of to be stored. */
export const partsOf = <P extends Product>({ added, description, dimensions, ...product }: P) => ({
  ...product,
  added: DateTime.fromDateUnsafe(added),
  ...(description === undefined ? {} : { description }),
  ...(dimensions === undefined ? {} : { dimensions })
})
