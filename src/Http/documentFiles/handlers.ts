/** The handlers of the files of a resource's documents. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Views from "../../Access/internal.ts"
import { nameInHeader } from "../../internal/safeFileName.ts"
import { type FieldProblem, formWithout, type StoredFile } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { AccessDecision, documentOperationsOf, type Room, type UnfinishedUploads } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import { encoded } from "../description/pathShape.ts"
import { fileTagOf, sent } from "../files/sent.ts"
import type { Received, Uploads } from "../files/uploads.ts"
import { errorOf, type HttpError } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { queryReader } from "../query/parameterReader.ts"
import { mediaTypeOf, refusedType } from "../request/body.ts"
import { BodyInstead, type Brought } from "../request/bodyInstead.ts"
import { isMultipart, readMultipart } from "../request/multipart.ts"
import * as preconditions from "../request/preconditions.ts"
import { readRaw } from "../request/rawBody.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import { fieldForbidden } from "../response/hiddenNames.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { readHooksOf } from "../routes/hooks.ts"
import type { ImplementedResource } from "../routes/implemented.ts"
import {
  headersOf,
  notFound,
  type RequestFiber,
  withIdAndParameters,
  withIdOf,
  withoutParameters
} from "../routes/route.ts"
import { resumableHandlers } from "./resumable.ts"

interface Made {
  readonly registration: ImplementedResource
  readonly repository: Repository<Model.Any>
  readonly uploads: Uploads
  readonly limits: Limits
  /** What callers see of documents; `undefined` without access control. */
  readonly views: typeof Views | undefined
  /** The `PATCH` of the resource, whose stages, hooks and checks a change of a file passes; `undefined` if it has none. */
  readonly patch: ResponseEffect | undefined
  readonly respondBadRequest: BadRequestResponder
}

/** The handlers of the files of one field. */
export const fileHandlers = (made: Made, field: string) => {
  const { limits, patch = noPatch, registration, repository, respondBadRequest, uploads, views } = made
  const { hooks, model, path } = registration
  const documents = documentOperationsOf(repository)
  const { afterEach, beforeEach } = readHooksOf(model, hooks)
  const plain = formWithout(model, [])
  const { image = {}, isList = false } = uploads.fields.get(field) ?? {}
  const sizes = Object.keys(image)

  /** What the caller may do with the files of documents. */
  const rightsOf = (fiber: RequestFiber): Rights => {
    const grants = Context.get(fiber.context, AccessDecision)?.endpoint
    const view = views === undefined || grants === undefined ? undefined : views.modelView(model, grants)
    const caller = view?.ofCaller(grants!)
    return {
      isUnwritable: view?.mask.isUnwritable(field) === true,
      isUnwritableIn: (document) => caller?.updatesOf(document).every(({ mask }) => mask.isUnwritable(field)) === true,
      seenIn: (document) => {
        const form = caller === undefined ? plain : caller.isShown(document) ? caller.formOf(document) : undefined
        if (form === undefined || !sentParts.every((part) => form.shows(`${field}.${part}`))) return undefined
        const files = filesIn(document, field)
        return form.shows(`${field}.name`) ? files : files.map((file) => ({ ...file, name: "file" }))
      }
    }
  }

  /** What the caller sees of the files of a document: of one that is not there, as of a field that is hidden, nothing. */
  const seen = Effect.fnUntraced(function*(id: unknown, fiber: RequestFiber) {
    const { seenIn } = rightsOf(fiber)
    if (beforeEach !== undefined) yield* beforeEach(id)
    const document = yield* documents.findById(id, { timeLimit: limits.queryTimeout })
    if (document === undefined) return yield* notFound(model, id)
    if (afterEach !== undefined) yield* afterEach(document)
    return seenIn(document) ?? []
  })

  const readParameters = queryReader({
    size: {
      schema: Schema.Literals(sizes),
      message: sizes.length === 0 ? notParameter : `must be one of ${sizes.join(", ")}`,
      isRequired: false
    }
  }, notParameter)

  const get: ResponseEffect = withIdAndParameters(model, (id, request, parameters, fiber) => {
    const asked = readParameters(parameters)
    if (Result.isFailure(asked)) return respondBadRequest(asked.failure)
    const { size } = asked.success
    const key = keyOf(fiber)
    const answered = Effect.flatMap(seen(id, fiber), (files) => {
      const found = fileAt(files, isList, key)
      if (found === undefined) return Effect.fail(notFound(model, id))
      const file = { ...found, at: DateTime.fromDateUnsafe(found.at) }
      const respond = (one: StoredFile) =>
        sent(
          uploads.store,
          one,
          headersOf(request),
          request.method,
          respondBadRequest,
          fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
        )
      return size === undefined ? respond(file) : Effect.flatMap(uploads.sized(field, file, size), respond)
    })
    // A write may have replaced the file since its document was read. Otherwise its bytes are lost.
    return Effect.catchTag(answered, "FileMissing", () => Effect.catchTag(answered, "FileMissing", Effect.die))
  })

  /** Refuses, before a body is read, what the write would refuse. */
  const writable = Effect.fnUntraced(function*(asked: Asked) {
    const { id, rights } = asked
    if (rights.isUnwritable) return yield* fieldForbidden(field)
    const document = yield* documents.findById(id, { privilege: "update" })
    if (document === undefined) return yield* notFound(model, id)
    if (rights.isUnwritableIn(document)) return yield* fieldForbidden(field)
    yield* checked(rights.seenIn(document), asked)
    const room = yield* uploads.roomFor(document)
    // What the write replaces makes room as well, unless a history keeps it; the write itself knows.
    const { size = 0 } = fileAt(filesIn(document, field), isList, asked.key) ?? {}
    return room && { ...room, bytes: room.bytes + size }
  })

  /** Checks what was asked of the files that the caller sees. Of those that they don't see, no answer tells whether there are some. */
  const checked = (
    files: Seen,
    { conditions: { ifMatch, ifNoneMatch }, conditions, headers, id, key }: Asked
  ): Effect.Effect<void, DocumentNotFound | HttpError> => {
    const file = fileAt(files ?? [], isList, key)
    if (key !== undefined && file === undefined) return Effect.fail(notFound(model, id))
    const isMet = files === undefined
      ? ifMatch === undefined && ifNoneMatch === undefined && !preconditions.isModifiedSince(headers, Infinity)
      : file === undefined
      ? ifMatch === undefined
      : ifNoneMatch !== "any" && preconditions.evaluate(conditions, fileTagOf(file)) === "proceed" &&
        !preconditions.isModifiedSince(headers, file.at.getTime())
    return isMet ? Effect.void : Effect.fail(preconditions.failed)
  }

  /** Changes the field by the `PATCH` of the document. */
  const change = (
    asked: Asked,
    next: (files: ReadonlyArray<StoredFile>, seen: Seen) => Effect.Effect<ReadonlyArray<StoredFile>, DocumentNotFound>,
    brought?: Brought
  ): ResponseEffect =>
    Effect.provideService(patch, BodyInstead, {
      body: undefined,
      isPatch: false,
      server: {
        changesOf: (instance, document) => {
          const value: unknown = Reflect.get(instance, field) ?? []
          // What a file field has in an instance.
          const files = [value].flat() as ReadonlyArray<StoredFile>
          const seen = asked.rights.seenIn(document)
          return Effect.map(
            Effect.andThen(checked(seen, asked), next(files, seen)),
            (changed) => ({ [field]: isList ? changed : changed[0] ?? null })
          )
        },
        brought
      }
    })

  const withConditions = (
    use: (asked: Asked, request: HttpServerRequest.HttpServerRequest, room: Room | undefined) => ResponseEffect
  ): ResponseEffect =>
    withIdOf(model, (id, request) =>
      Effect.withFiber((fiber) => {
        const headers = headersOf(request)
        const conditions = preconditions.read(headers)
        if (Result.isFailure(conditions)) return respondBadRequest(conditions.failure)
        const segment = Context.getUnsafe(fiber.context, HttpRouter.RouteContext).params["id"] ?? ""
        const asked: Asked = {
          id,
          segment: encodeURIComponent(segment),
          key: keyOf(fiber),
          conditions: conditions.success,
          headers,
          rights: rightsOf(fiber)
        }
        return Effect.flatMap(writable(asked), (room) => use(asked, request, room))
      }))

  /** Writes the document with a file that was received. */
  const written = (asked: Asked, upload: Received): ResponseEffect => {
    const { key } = asked
    const { file } = upload
    const changed = change(asked, (files) =>
      Effect.succeed(
        !isList
          ? [file]
          : key === undefined
          ? [...files, file]
          // Its address stays.
          : files.map((one) => one.key === key ? renamed(file, key) : one)
      ), uploads.brought([upload]))
    return Effect.map(changed, (response) => {
      const tagged = HttpServerResponse.setHeader(response, "etag", fileTagOf(file))
      return isList && key === undefined && response.status < 300
        ? HttpServerResponse.setHeader(
          HttpServerResponse.setStatus(tagged, 201),
          "location",
          `${encoded(path)}/${asked.segment}/${encodeURIComponent(field)}/${file.key}`
        )
        : tagged
    })
  }

  const put = withConditions((asked, request, room) =>
    asked.headers["content-range"] === undefined
      ? Effect.flatMap(received(uploads, field, request, limits, room), (upload) => written(asked, upload))
      : respondBadRequest([noRange])
  )

  const remove = withConditions((asked) =>
    change(asked, (files, seen) =>
      seen?.length === 0
        ? Effect.fail(notFound(model, asked.id))
        : Effect.succeed(files.filter((file) => isList && file.key !== asked.key)))
  )

  const only = (handler: ResponseEffect) => withoutParameters(handler, respondBadRequest)
  const resumable = (unfinished: UnfinishedUploads) => {
    const { create, head, instead, patch, remove } = resumableHandlers({
      field,
      uploads,
      unfinished,
      respondBadRequest,
      allowed: withConditions,
      written
    })
    return { create: only(create), head: only(head), instead: only(instead), patch: only(patch), remove: only(remove) }
  }
  return { get, put: only(put), remove: only(remove), resumable }
}

// internal

/** RFC 9110, section 14.5: a part of a file would be taken for all of it. */
const noRange: FieldProblem = {
  field: "Content-Range",
  validator: "Header",
  message: "must not be given: a file is written as a whole"
}

const notParameter = "is not a parameter of a file"

/** What a document in the store has of a file. */
interface StoredRecord extends Omit<StoredFile, "at"> {
  readonly at: Date
}

/** The files of a field of a document, as far as the caller sees them: `undefined` if that is not at all. */
type Seen = ReadonlyArray<StoredRecord> | undefined

interface Rights {
  /** Whether the caller may write the field of no document. */
  readonly isUnwritable: boolean
  readonly isUnwritableIn: (document: Document) => boolean
  readonly seenIn: (document: Document) => Seen
}

/** What a write asks for. */
interface Asked {
  readonly id: unknown
  /** The identifier as the path has it. */
  readonly segment: string
  /** The key in the address; `undefined` without one. */
  readonly key: string | undefined
  readonly conditions: preconditions.Preconditions
  readonly headers: ReturnType<typeof headersOf>
  readonly rights: Rights
}

/** What the headers of a file tell beside its name: where one of them is hidden, the file is. */
const sentParts = ["at", "sha256", "size", "type"]

const filesIn = (document: Document, field: string): ReadonlyArray<StoredRecord> =>
  // What a file field has in a document.
  [document[field] as StoredRecord | ReadonlyArray<StoredRecord> | null | undefined ?? []].flat()

/** The file at an address: that of a list has a key, and that of a field without one has none. */
const fileAt = <F extends { readonly key: string }>(
  files: ReadonlyArray<F>,
  isList: boolean,
  key: string | undefined
): F | undefined => key === undefined ? isList ? undefined : files[0] : files.find((file) => file.key === key)

// Only a resource with that method has the routes.
const noPatch: ResponseEffect = Effect.die(new Error("The resource has no PATCH"))

const keyOf = (fiber: RequestFiber): string | undefined =>
  Context.getUnsafe(fiber.context, HttpRouter.RouteContext).params["key"]

const renamed = (file: StoredFile, key: string): StoredFile =>
  // The class of the file, whose instances have these fields.
  new (file.constructor as new(file: StoredFile) => StoredFile)({ ...file, key })

/** The file of a request: its body, or the only file of a form. */
const received = (
  uploads: Uploads,
  field: string,
  request: HttpServerRequest.HttpServerRequest,
  { maxBodySize, maxFields, maxMultipartSize }: Limits,
  room: Room | undefined
): Effect.Effect<Received, HttpError> => {
  const headers = headersOf(request)
  if (isMultipart(headers["content-type"])) {
    const files: Array<Received> = []
    const limits = { maxMultipartSize, maxFieldSize: maxBodySize, maxParts: maxFields }
    return readMultipart<HttpError>(request, limits, {
      takes: () => true,
      receive: ({ content, contentType, filename: name }) =>
        files.length > 0
          ? Effect.fail(fileNeeded)
          : Effect.map(uploads.receive(field, { content, name, type: mediaTypeOf(contentType), room }), (file) => {
            files.push(file)
          })
    }).pipe(
      Effect.flatMap(() => files[0] === undefined ? Effect.fail(fileNeeded) : Effect.succeed(files[0])),
      Effect.onError(() => uploads.discard(files))
    )
  }
  const type = headers["content-type"] === undefined ? undefined : mediaTypeOf(headers["content-type"])
  const coded = refusedType({ ...headers, "content-type": "any" }, () => true, [])
  if (coded !== undefined) return Effect.fail(coded)
  return Effect.flatMap(
    readRaw(request, [], Number.MAX_SAFE_INTEGER, { isFile: true }),
    (content) =>
      uploads.receive(field, {
        content,
        type,
        room,
        name: nameIn(headers["content-disposition"]),
        size: headers["content-length"] === undefined ? undefined : Number(headers["content-length"])
      })
  )
}

const nameIn = (disposition: string | undefined): string | undefined =>
  disposition === undefined ? undefined : Result.getOrElse(Result.try(() => nameInHeader(disposition)), () => undefined)

const fileNeeded = errorOf("BadRequest", "errors.FileNeeded")
