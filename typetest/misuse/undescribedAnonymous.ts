/** The cause is `GET is not described as anonymous`. */
import { Anonymous, Model, Resource } from "appkernel"
import { Schema } from "effect"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const NotesApi = Resource.describe(Note, { methods: ["GET", "POST"], anonymous: ["POST"] })

export const Notes = Resource.implement(NotesApi, {}).require(Anonymous, "POST").require(Anonymous, "GET")
