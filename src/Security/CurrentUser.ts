/**
 * The user that the program runs for.
 *
 * @since 0.1.0
 */
export {
  /**
   * The user that the program runs for: `subject`, the identifier; `roles`; and `claims`, all that a token says of the
   * user. Fields with `Generator.currentUserId`, audit fields and histories take the subject.
   *
   * **Details**
   *
   * `yield* CurrentUser` requires a user, so that a program without one doesn't compile. `yield* CurrentUser.option`
   * requires none.
   *
   * **Example** (Writing as a user)
   *
   * ```ts
   * import { CurrentUser, EmbeddedStore, Model, Repository } from "appkernel"
   * import { Effect, Layer, Option } from "effect"
   *
   * class Note extends Model.Class<Note>()("Note", { id: Model.id(), ...Model.audited }) {}
   *
   * const jane = { subject: "U1", roles: ["editor"], claims: {} }
   * const written = Effect.gen(function*() {
   *   const notes = yield* Repository.for(Note)
   *   const { created_by } = yield* Effect.provideService(notes.insert(new Note({})), CurrentUser, jane)
   *   return created_by
   * }).pipe(Effect.provide(Repository.layer(Note).pipe(Layer.provide(EmbeddedStore.layerMemory))))
   *
   * await Effect.runPromise(written) // => "U1"
   * Option.isNone(await Effect.runPromise(CurrentUser.option)) // => true
   * ```
   *
   * @category services
   * @since 0.1.0
   */
  CurrentUser
} from "@appkernel/document-store/internal"
