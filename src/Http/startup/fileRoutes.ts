/** The routes of the files of a resource's documents: below a document, at the name of the field. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Views from "../../Access/internal.ts"
import { configOf } from "../../internal/configurationKeys.ts"
import { fileFieldsOf } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { declaredQuotas, newestNameOf, pictureSizesOf, unfinishedUploads } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { Method } from "../description/endpoint.ts"
import type { Uploads } from "../files/uploads.ts"
import type { FileOptions, Registration } from "../registration/registration.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import type { ImplementedResource } from "../routes/implemented.ts"
import { jsonRoute } from "../routes/route.ts"
import { RegistrationInvalid } from "./registrationInvalid.ts"
import { respondingOf } from "./stages.ts"
import type { RouteSurroundings, ServedRoute } from "./surroundings.ts"

/** What takes the files of a model; `undefined` for one without. */
export const uploadsFor = Effect.fnUntraced(function*(
  { files: options, model, name }: ImplementedResource,
  limits: RouteSurroundings["limits"],
  all: ReadonlyArray<Registration>
) {
  const fields = fileFieldsOf(model)
  const unknown = Object.keys(options?.quotaBy ?? {}).find((field) => !Object.hasOwn(model.store.fields, field))
  const gone = Object.keys(options?.quotaBy ?? {}).find((field) => newestNameOf(model, field) === undefined)
  const detail = options !== undefined && fields.length === 0
    ? `${model.modelName} has no files`
    : unknown !== undefined
    ? `files.quotaBy names ${unknown}, which is no field of ${model.modelName}`
    : gone === undefined
    ? undefined
    : `files.quotaBy names ${gone}, which the newest form of ${model.modelName} does not have`
  if (detail !== undefined) return yield* new RegistrationInvalid({ registration: name, detail })
  if (fields.length === 0) return undefined
  const { filesOfStore, isSharpMissing } = yield* Effect.promise(() => import("../../Files/internal.ts"))
  const pictured = fields.filter(({ image, stripMetadata }) => stripMetadata || Object.keys(image).length > 0)
  if (pictured[0] !== undefined && isSharpMissing()) {
    return yield* new RegistrationInvalid({
      registration: name,
      detail: `the pictures of ${model.modelName}.${pictured[0].name} need the package sharp: npm install sharp`
    })
  }
  const store = yield* DocumentStore
  const files = yield* filesOfStore(store)
  const pictures = pictured.length === 0 ? undefined : yield* pictureSizesOf({ store, files })
  const given = all.flatMap((one) =>
    one._tag === "Resource" && one.model.modelName === model.modelName && one.files !== undefined
      ? [{ options: one.files, model: one.model }]
      : []
  )
  const roomFor = yield* declaredQuotas({ store, files }, model, given.length === 0 ? undefined : quotasOf(given))
  const { uploadsOf } = yield* Effect.promise(() => import("../files/uploads.ts"))
  const unfinished = options?.resumable === true
    ? yield* unfinishedUploads({ store, files }, yield* configOf("files.upload_keep"))
    : undefined
  return uploadsOf(model, files, pictures, { ...limits, roomFor, unfinished })
})

interface Made extends RouteSurroundings, Pick<ServedRoute, "respondBadRequest"> {
  readonly uploads: Uploads
  /** What the registration says of all of its routes. */
  readonly own: Partial<ServedRoute>
  /** What signs addresses. */
  readonly secret: Redacted.Redacted
  readonly views: typeof Views | undefined
}

/** The routes, each with the grants, the stages and the hooks of a `GET` or of a `PATCH` of its document. */
export const fileRoutes = Effect.fnUntraced(function*(
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  routes: ReadonlyArray<ServedRoute>,
  made: Made
) {
  const { model, name, path } = registration
  const unfit = [...made.uploads.fields.keys()].find((field) => !/^[\w~-]+$/u.test(field))
  if (unfit !== undefined) {
    return yield* new RegistrationInvalid({
      registration: name,
      detail: `${model.modelName}.${unfit} has files, and its name is no segment of a path`
    })
  }
  const ofDocument = (method: Method) => routes.find((route) => route.method === method && route.path === `${path}/:id`)
  const reading = ofDocument("GET")
  const writing = ofDocument("PATCH")
  const { fileHandlers } = yield* Effect.promise(() => import("../documentFiles/handlers.ts"))
  const { tusHeaders, tusOptions, tusType } = yield* Effect.promise(() => import("../documentFiles/resumable.ts"))
  const { addresses } = yield* Effect.promise(() => import("../documentFiles/addresses.ts"))
  return [...made.uploads.fields.values()].flatMap((field): ReadonlyArray<ServedRoute> => {
    const { isList, maxSize = made.limits.maxMultipartSize, name } = field
    const at = `${path}/:id/${name}` as const
    const { get, put, remove, resumable } = fileHandlers(
      { ...made, registration, repository, patch: writing?.handler },
      name
    )
    const item = isList ? `${at}/:key` as const : at
    const [read] = route(reading, "GET", item, get)
    const signed = read === undefined ? undefined : addresses({
      credentialsNeeded: made.access?.credentialsNeeded,
      field: name,
      secret: made.secret,
      respond: respondingOf(
        read,
        // The signature says who asks.
        { ...made, access: made.access && { ...made.access, authenticated: (next) => next } }
      ),
      respondBadRequest: made.respondBadRequest
    })
    const writes = (method: Method, path: `/${string}`, handler: ResponseEffect) =>
      route(writing, method, path, handler).map((write) => ({
        ...write,
        // The body of an upload is not kept to be compared with that of its repetition.
        idempotencyKeys: writing?.idempotencyKeys &&
          (method === "DELETE" ? writing.idempotencyKeys : "refused" as const)
      }))
    const { unfinished } = made.uploads
    const uploads = unfinished && resumable(unfinished)
    const headers = { ...writing?.headers, ...tusHeaders }
    const tus = (method: Method, path: `/${string}`, handler: ResponseEffect): ReadonlyArray<ServedRoute> =>
      route(writing, method, path, handler).map(({ caching: _caching, ...others }) => ({
        ...others,
        headers,
        told: tusOptions(maxSize),
        ...method === "PATCH" ? { patchTypes: [tusType] } : {}
      }))
    return [
      ...(isList ? [at, item] as const : [at]).flatMap((place) =>
        uploads === undefined ? [] : [
          ...tus("POST", `${place}/uploads`, uploads.create),
          ...tus("GET", `${place}/uploads/:upload`, uploads.head),
          ...tus("PATCH", `${place}/uploads/:upload`, uploads.patch),
          ...tus("DELETE", `${place}/uploads/:upload`, uploads.remove),
          ...tus("POST", `${place}/uploads/:upload`, uploads.instead)
        ]
      ),
      ...read === undefined ? [] : [read],
      ...writes("PUT", item, put),
      ...writes("DELETE", item, remove),
      ...isList ? writes("POST", at, put) : [],
      ...signed === undefined || reading === undefined ? [] : [
        {
          ...jsonRoute({
            method: "POST",
            path: `${item}/address`,
            handler: signed.sign(get),
            respondBadRequest: made.respondBadRequest
          }),
          ...made.own,
          endpoint: reading.endpoint
        },
        {
          method: "GET" as const,
          path: `${item}/signed/:signature` as const,
          handler: signed.open,
          respondBadRequest: made.respondBadRequest
        }
      ]
    ]
  })
})

// internal

/** The quotas of all registrations of a model, which hold together: of two for the same, the smaller one. */
const quotasOf = (given: ReadonlyArray<{ readonly options: FileOptions; readonly model: Model.Any }>) => {
  const quotaBy: Record<string, number> = {}
  let quota = Infinity
  for (const { model, options } of given) {
    if (options.quota !== undefined) quota = Math.min(quota, bytesOf(options.quota))
    for (const [name, size] of Object.entries(options.quotaBy ?? {})) {
      // Files are counted by the fields of the newest form.
      const field = newestNameOf(model, name) ?? name
      quotaBy[field] = Math.min(quotaBy[field] ?? Infinity, bytesOf(size))
    }
  }
  return { quota: quota === Infinity ? undefined : quota, quotaBy }
}

const bytesOf = (size: ByteSize.Input): number => Number(ByteSize.fromInputUnsafe(size))

/** A route with the stages of one of the document; none if the resource lacks that one. */
const route = (
  like: ServedRoute | undefined,
  method: Method,
  path: `/${string}`,
  handler: ResponseEffect
): ReadonlyArray<ServedRoute> => {
  if (like === undefined) return []
  const { accepted, asked: _asked, caching, idempotencyKeys: _keys, patchTypes: _types, ...others } = like
  // A file has the type that it has, and the tag of its bytes, by which every cache asks unless the registration says more.
  return [{
    ...others,
    ...method === "GET" || accepted === undefined ? {} : { accepted },
    caching: { cacheControl: caching?.cacheControl ?? "no-cache", pageTags: false },
    method,
    path,
    handler
  }]
}
