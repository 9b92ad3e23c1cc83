import { Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Book extends Model.Class<Book>()("Book", {
  id: Model.id({ prefix: "B" }),
  isbn: Schema.String.pipe(Validator.regexp(/^\d{13}$/u), Model.indexed(Index.unique)),
  title: Schema.String.pipe(Validator.notEmpty, Validator.max(200)),
  author: Schema.String.pipe(Validator.notEmpty),
  subjects: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  on_shelf: Schema.Int.pipe(Validator.min(0), Model.withDefault(() => 1)),
  ...Model.versioned
}) {}
