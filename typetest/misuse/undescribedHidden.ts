/** The cause is `cost is not described as hidden`. */
import { Model, Resource, Role } from "appkernel"
import { Schema } from "effect"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String, cost: Schema.Int }) {}

const NotesApi = Resource.describe(Note, { methods: ["GET"], hidden: ["owner"] })

export const Notes = Resource.implement(NotesApi)
  .grant(Role("clerk"), { hide: ["owner"], rows: (me) => ($) => $.owner.equals(me.subject) })
  .grant(Role("guest"), { hide: ["cost"], rows: (me) => ($) => $.owner.equals(me.subject) })
