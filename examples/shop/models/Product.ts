import { Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Dimensions extends Model.Class<Dimensions>()("Dimensions", {
  width: Schema.Finite.pipe(Validator.min(0), Validator.max(10_000)),
  height: Schema.Finite.pipe(Validator.min(0), Validator.max(10_000)),
  depth: Schema.Finite.pipe(Validator.min(0), Validator.max(10_000))
}) {}

export class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P", brand: "ProductId" }),
  code: Schema.String.pipe(Validator.regexp(/^[A-Z]{3}-\d{4}$/u), Model.indexed(Index.unique)),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(200)),
  description: Schema.String.pipe(Model.optional),
  price: Schema.Finite.pipe(Validator.min(0), Validator.max(100_000), Model.indexed(Index.plain)),
  /** What it was bought for. */
  cost: Schema.Finite.pipe(Validator.min(0), Validator.max(100_000), Model.optional),
  currency: Schema.Literals(["CHF", "EUR", "USD"]).annotate({ identifier: "Currency" }),
  stock: Schema.Int.pipe(Validator.min(0), Validator.max(1_000_000)),
  tags: Schema.Array(Schema.String.pipe(Validator.notEmpty)).pipe(Validator.unique, Model.withDefault(() => [])),
  dimensions: Dimensions.pipe(Model.optional),
  picture: Model.file({
    types: ["image/jpeg", "image/png", "image/webp"],
    maxSize: "5 MB",
    image: { thumbnail: { width: 200 } },
    stripMetadata: true
  }).pipe(Model.optional),
  added: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow))
}, { logged: true }) {}
