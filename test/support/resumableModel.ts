/** A service with resumable uploads, which a test and the program that it kills have in common. */
import { Schema } from "effect"
import { KernelEngine, Model } from "../../src/index.ts"

class Film extends Model.Class<Film>()("Film", {
  id: Model.id(),
  owner: Schema.String.pipe(Model.optional),
  film: Model.file({ maxSize: "2 GB" }).pipe(Model.optional),
  cover: Model.file({ types: ["image/png"], maxSize: "1 MB" }).pipe(Model.optional),
  scenes: Model.files({ maxSize: "100 MB" })
}) {}

export const films = KernelEngine.make("films").register(Film, {
  methods: ["GET", "POST", "PATCH", "DELETE"],
  files: { resumable: true, quotaBy: { owner: "3 GB" } }
})
