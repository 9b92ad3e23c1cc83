/** A service that takes a file in a form, for documents whose clients send one. */
import { Effect, Schema, Stream } from "effect"
import { HttpServerRequest, Multipart } from "effect/http"
import { Anonymous, HttpError, Raw, Service } from "../../src/index.ts"

export const Files = Service.make("files").operation(
  "upload",
  {
    payload: Raw.request({
      contentType: "multipart/form-data",
      parts: { scan: Raw.file, note: Schema.optionalKey(Schema.String) }
    }),
    success: Schema.Struct({ name: Schema.String, size: Schema.Int, note: Schema.optionalKey(Schema.String) }),
    require: Anonymous
  },
  ({ payload }) =>
    Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const parts = yield* payload.pipe(
        Stream.pipeThroughChannel(Multipart.makeChannel(headers)),
        Stream.mapEffect((part) =>
          Effect.gen(function*() {
            if (!Multipart.isFile(part)) return { note: part.value }
            const { length: size } = yield* part.contentEffect
            return { name: part.name, size }
          })
        ),
        Stream.runCollect
      )
      const file = parts.find((part) => part.size !== undefined)
      const note = parts.find((part) => part.note !== undefined)
      if (file === undefined) return yield* new HttpError.BadRequest({ message: "There is no file", errors: [] })
      return { name: file.name, size: file.size, ...note === undefined ? {} : { note: note.note } }
    })
)
