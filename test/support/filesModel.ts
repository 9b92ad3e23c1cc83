/** A model with files, which a test and the program that it kills have in common. */
import { Schema } from "effect"
import { Model } from "../../src/index.ts"

export class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id(),
  title: Schema.String,
  picture: Model.file().pipe(Model.optional),
  pages: Model.files()
}) {}
