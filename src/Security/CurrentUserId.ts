/**
 * The user that the program runs for.
 *
 * @since 0.1.0
 */
export {
  /**
   * The identifier of the user that the program runs for: the subject of a request's credentials. Defaults to
   * `undefined`. Fields with `Generator.currentUserId`, audit fields and histories take it.
   *
   * **Example** (Writing as a user)
   *
   * ```ts
   * import { CurrentUserId, EmbeddedStore, Model, Repository } from "appkernel"
   * import { Effect, Layer } from "effect"
   *
   * class Note extends Model.Class<Note>()("Note", { id: Model.id(), ...Model.audited }) {}
   *
   * const written = Effect.gen(function*() {
   *   const notes = yield* Repository.for(Note)
   *   const { created_by } = yield* Effect.provideService(notes.insert(new Note({})), CurrentUserId, "U1")
   *   return created_by
   * }).pipe(Effect.provide(Repository.layer(Note).pipe(Layer.provide(EmbeddedStore.layerMemory))))
   *
   * await Effect.runPromise(written) // => "U1"
   * ```
   *
   * @category references
   * @since 0.1.0
   */
  CurrentUserId
} from "../internal/currentUserId.ts"
