/** Reads forms of documents, and keeps the files in them. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"
import type { WriteMask } from "../../Access/internal.ts"
import type { FieldProblem } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Room } from "../../Repository/internal.ts"
import { fromFailure, type HttpError } from "../HttpError.ts"
import { badRequestOf } from "../messages/message.ts"
import { maxDepth, mediaTypeOf } from "../request/body.ts"
import type { Brought } from "../request/bodyInstead.ts"
import { type Form, readForm } from "../request/form.ts"
import { type FormLimits, readMultipart, type ReceivedPart } from "../request/multipart.ts"
import { fieldForbidden } from "../response/hiddenNames.ts"
import type { Received, Uploads } from "./uploads.ts"

/** The values of the files of a form. */
interface FormValues {
  readonly values: { readonly [field: string]: unknown }
  readonly brought: Brought | undefined
}

/** Makes what reads forms, and passes them on with the values of their files. */
export const formReader = ({ formLimits, isStrict, mask, model, uploads }: {
  readonly model: Model.Any
  readonly mask: WriteMask
  readonly uploads: Uploads | undefined
  readonly formLimits: FormLimits
  readonly isStrict: boolean
}) => {
  const formOf = (parts: ReadonlyArray<ReceivedPart>) => readForm(model, parts, { maxDepth, isStrict })

  /** Reads a form, and keeps its files as it arrives. What is not valid leaves none. */
  return <Body>(
    request: HttpServerRequest.HttpServerRequest,
    isNew: boolean,
    use: (form: Form, files: FormValues) => Effect.Effect<Result.Result<Body, ReadonlyArray<FieldProblem>>, HttpError>
  ): Effect.Effect<Result.Result<Body, ReadonlyArray<FieldProblem>>, HttpError> => {
    if (uploads === undefined) {
      return Effect.flatMap(
        readMultipart(request, formLimits),
        (parts) => use(formOf(parts), { values: {}, brought: undefined })
      )
    }
    return Effect.suspend(() => {
      const received: Array<Received> = []
      let room: Room | undefined
      const counted = new Map<string, number>()
      const read = readMultipart<HttpError>(request, formLimits, {
        takes: (name) => uploads.fields.has(name),
        receive: ({ content, contentType, filename: name, name: field }) =>
          Effect.suspend(() => {
            const count = (counted.get(field) ?? 0) + 1
            counted.set(field, count)
            if (mask.isUnwritable(field)) return Effect.fail(fieldForbidden(field))
            if (count > 1 && uploads.fields.get(field)?.isList !== true) {
              return Effect.fail(badRequestOf([{ field, validator: "Form", message: "is given more than once" }]))
            }
            return Effect.map(
              uploads.receive(field, { content, name, type: mediaTypeOf(contentType), room }),
              (file) => {
                received.push(file)
                room = room && { ...room, bytes: room.bytes - file.file.size }
              }
            )
          })
      })
      // Of a document that is changed, the write knows what it replaces.
      const roomForAll = isNew ? Effect.mapError(uploads.roomFor({}), fromFailure) : Effect.undefined
      const begun = Effect.tap(roomForAll, (known) =>
        Effect.sync(() => {
          room = known
        }))
      return Effect.flatMap(
        Effect.andThen(begun, read),
        (parts) => use(formOf(parts), { values: uploads.valuesOf(received), brought: uploads.brought(received) })
      ).pipe(
        Effect.onExit((exit) =>
          Exit.isSuccess(exit) && Result.isSuccess(exit.value) ? Effect.void : uploads.discard(received)
        )
      )
    })
  }
}
