/** A program whose service has pictures, in a place without the package that makes them: it prints why it does not start. */
import { Effect } from "effect"
import { registerHooks } from "node:module"
import { KernelEngine, Model, Resource } from "../../src/index.ts"

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === "sharp") throw Object.assign(new Error("no sharp"), { code: "ERR_MODULE_NOT_FOUND" })
    return next(specifier, context)
  }
})

class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id(),
  picture: Model.file({ image: { thumbnail: { width: 10 } } }).pipe(Model.optional)
}) {}

const error = await Effect.runPromise(
  KernelEngine.make("photos").register(Resource.make(Photo, { methods: ["GET"] })).test().pipe(
    Effect.scoped,
    Effect.flip
  )
)
process.stdout.write(`${error.message}\n`)
