import { Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Dimensions extends Model.Class<Dimensions>()("Dimensions", {
  width: Schema.Finite.pipe(Validator.min(0)),
  height: Schema.Finite.pipe(Validator.min(0)),
  depth: Schema.Finite.pipe(Validator.min(0))
}) {}

export class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  code: Schema.String.pipe(Validator.regexp(/^[A-Z]{3}-\d{4}$/u), Model.indexed(Index.unique)),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(200)),
  description: Schema.String.pipe(Model.optional),
  price: Schema.Finite.pipe(Validator.min(0), Model.indexed(Index.plain)),
  currency: Schema.Literals(["CHF", "EUR", "USD"]),
  stock: Schema.Int.pipe(Validator.min(0)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  dimensions: Dimensions.pipe(Model.optional),
  added: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow))
}) {}
