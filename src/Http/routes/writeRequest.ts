/** Reads the write requests of a resource. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { ModelView, WriteMask } from "../../Access/internal.ts"
import { atFirstCall } from "../../internal/atFirstCall.ts"
import { ownValue } from "../../internal/objects.ts"
import {
  bodyDecoder,
  type Decoded,
  type FieldProblem,
  isRequiredInput,
  managedField,
  type Serialiser,
  withoutIndexes,
  withoutRules
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { type Identifier, identifierOf } from "../../Repository/internal.ts"
import { maxItems } from "../description/limits.ts"
import { tableTypes } from "../description/listTypes.ts"
import { reservedIdsOf } from "../description/standardEndpoints.ts"
import { formReader } from "../files/formReader.ts"
import type { Uploads } from "../files/uploads.ts"
import type { Forbidden, HttpError } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { maxDepth, mediaTypeOf, readJson } from "../request/body.ts"
import type { Brought, Instead } from "../request/bodyInstead.ts"
import { costlyCounter } from "../request/costlyValues.ts"
import { documentPatcher } from "../request/documentPatch.ts"
import { decodeForm } from "../request/form.ts"
import { tokensOf } from "../request/jsonPatch.ts"
import { isMultipart } from "../request/multipart.ts"
import * as preconditions from "../request/preconditions.ts"
import * as preference from "../request/prefer.ts"
import { rejectExcess } from "../request/unknownKeys.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { fieldForbidden } from "../response/hiddenNames.ts"
import { readItems } from "./bulkInsert.ts"
import type { ImplementedResource } from "./implemented.ts"
import { headersOf } from "./route.ts"

type Values = Record<string, unknown>

/** A write request after decoding. */
export interface WriteRequest<Body> {
  /** The identifier in the URL; `undefined` in a request to the collection. */
  readonly id: unknown
  readonly body: Body
  readonly conditions: preconditions.Preconditions
  readonly prefer: preference.Return | undefined
  /** What becomes of the files that the request brought. */
  readonly brought?: Brought | undefined
}

/** A document to create. `problems` are the broken rules of values, if these are not stored already. */
export interface OneDocument {
  readonly _tag: "One"
  readonly value: Values
  readonly problems: ReadonlyArray<FieldProblem> | undefined
}

export interface ManyDocuments {
  readonly _tag: "Many"
  readonly values: ReadonlyArray<Values>
}

/** Changes of a document. Those of a JSON Patch depend on the stored document. */
export type RequestedChanges =
  | { readonly _tag: "Merge"; readonly changes: Values }
  | {
    readonly _tag: "Patch"
    readonly changesOf: (
      stored: Document,
      serialise: Serialiser,
      instance: object
    ) => Effect.Effect<Values, HandlerFailure>
  }

/** A request, or all problems of the first of its parts that has some. */
type Read<Body> = Result.Result<WriteRequest<Body>, ReadonlyArray<FieldProblem>>

type Request = HttpServerRequest.HttpServerRequest

interface Creation {
  readonly create: Decode
  readonly costlyIn: (item: Values) => number
  readonly idProblem: (id: unknown) => FieldProblem | undefined
}

/** The readers of a resource's write requests. They fail if a body can't be read at all. */
export interface WriteReaders {
  readonly create: (request: Request) => Effect.Effect<Read<OneDocument | ManyDocuments>, HttpError>
  /** `instead` counts in the place of the body, here and in a patch. */
  readonly replace: (
    id: unknown,
    request: Request,
    instead: Instead | undefined
  ) => Effect.Effect<Read<Values>, HttpError>
  readonly patch: (
    id: unknown,
    request: Request,
    instead: Instead | undefined
  ) => Effect.Effect<Read<RequestedChanges>, HttpError>
  readonly delete: (id: unknown, request: Request) => Effect.Effect<Read<undefined>>
}

/** Compiles the readers of a resource. */
export const writeReaders = (
  registration: ImplementedResource,
  { mask, model }: ModelView,
  limits: Limits,
  uploads?: Uploads
): WriteReaders => {
  const identifier = identifierOf(model)
  const permitting = permittingBy(mask)
  const isStrict = registration.onExcessProperty === "error"
  const strict = (variant: "create" | "patch", decode: Decode): Decode =>
    isStrict ? rejectExcess(model[variant], decode) : decode
  const create = atFirstCall(() => bodyDecoder(model.create))
  const decoders = {
    idProblem: idProblemOf(registration.model),
    costlyIn: costlyCounter(model),
    create: strict("create", create),
    replace: strict("create", replacingDecoder(model, "create", create)),
    patch: strict("patch", replacingDecoder(model, "patch", atFirstCall(() => bodyDecoder(model.patch))))
  }
  const patcher = documentPatcher(model, {
    decode: decoders.patch,
    maxDepth,
    maxOperations: 1_000,
    maxCopied: limits.maxBodySize
  })
  const formLimits = {
    maxMultipartSize: limits.maxMultipartSize,
    maxFieldSize: limits.maxBodySize,
    maxParts: limits.maxFields
  }
  const withIdOfUrl = idCompleter(model, identifier)

  // A table is a list of documents.
  const tables = registration.tables !== undefined && registration.lists ? tableTypes : []
  const createTypes = [...postTypes, ...tables]
  const readBody = (request: Request): Effect.Effect<unknown, HttpError> => {
    const table = tables.find((type) => type === mediaTypeOf(headersOf(request)["content-type"] ?? ""))
    return table === undefined
      ? readJson(request, createTypes, limits.maxBodySize)
      : Effect.flatMap(
        Effect.promise(() => import("../tables/readTable.ts")),
        ({ readTable }) =>
          readTable(request, { maxBytes: limits.maxBodySize, maxItems, model: registration.model, type: table })
      )
  }

  const withForm = formReader({ model, mask, uploads, formLimits, isStrict })

  /** Refuses new documents that lack a file, which only a form has. */
  const withFiles = (read: Read<OneDocument | ManyDocuments>): Read<OneDocument | ManyDocuments> =>
    uploads === undefined ? read : Result.flatMap(read, ({ body }): typeof read => {
      const problems = body._tag === "One"
        ? uploads.missingIn(body.value)
        : body.values.flatMap((value, i) => uploads.missingIn(value, `${i}.`))
      return problems.length === 0 ? read : Result.fail(problems)
    })

  const one = (request: Request, mayHaveId: boolean, read: (decode: Decode) => Decoded) =>
    Result.flatMap(documentOf(decoders, mayHaveId, read), (body) => readHeaders(request, undefined, body))

  return {
    create: (request) =>
      isMultipart(headersOf(request)["content-type"])
        ? withForm(request, true, (form, { brought, values }) =>
          permitting(mask.forbiddenIn(form.values, !hasId(form.values)), () => {
            const problems = uploads?.problemsIn(values) ?? []
            return problems.length > 0 ? Result.fail(problems) : withFiles(Result.map(
              one(request, true, (decode) =>
                decodeForm(decode, form)),
              (read) => ({ ...read, body: { ...read.body, value: { ...read.body.value, ...values } }, brought })
            ))
          }))
        : Effect.flatMapEager(readBody(request), (body) =>
          // A body with an identifier may replace a document, and may then repeat stored values of unwritable fields.
          permitting(mask.forbiddenIn(body, !hasId(body)), () =>
            withFiles(
              registration.lists && Array.isArray(body)
                ? documentsOf(decoders, body)
                : one(request, hasId(body), (decode) =>
                  decode(body))
            ))),
    replace: (id, request, instead) =>
      Effect.flatMapEager(
        instead === undefined ? readJson(request, jsonTypes, limits.maxBodySize) : Effect.succeed(instead.body),
        (body) =>
          permitting(mask.forbiddenIn(body, false), () =>
            Result.flatMap(
              valid(rejectOtherId(decoders.replace(withIdOfUrl(body, id)), body, id, identifier)),
              (value) => readHeaders(request, id, value, instead)
            ))
      ),
    patch: (id, request, instead) => {
      if (instead?.server !== undefined) {
        const { brought, changesOf } = instead.server
        const read: Read<RequestedChanges> = Result.succeed({
          id,
          body: { _tag: "Patch", changesOf: (stored, _, instance) => changesOf(instance, stored) },
          conditions: preconditions.none,
          prefer: instead.prefer ?? preference.returnOf(headersOf(request)["prefer"]?.toString()),
          brought
        })
        return Effect.succeed(read)
      }
      if (uploads !== undefined && instead === undefined && isMultipart(headersOf(request)["content-type"])) {
        return withForm(
          request,
          false,
          (form, { brought, values }) =>
            permitting(mask.forbiddenIn(form.values, false), () =>
              Result.flatMap(
                valid(rejectOtherId(decodeForm(decoders.patch, form), form.values, id, identifier)),
                (changes): Read<RequestedChanges> =>
                  Result.map(
                    readHeaders<RequestedChanges>(request, id, { _tag: "Merge", changes: { ...changes, ...values } }),
                    (read) => ({ ...read, brought })
                  )
              ))
        )
      }
      return Effect.flatMapEager(
        instead === undefined ? readJson(request, patchTypes, limits.maxBodySize) : Effect.succeed(instead.body),
        (body) => {
          const isPatch = instead?.isPatch ?? isJsonPatch(request)
          const removed = isPatch ? [] : uploads?.removedIn(body) ?? []
          const read = (): Result.Result<RequestedChanges, ReadonlyArray<FieldProblem>> =>
            isPatch
              ? Result.map(patcher.read(body), (operations) => ({
                _tag: "Patch",
                changesOf: (stored, serialise) => patcher.changesOf(operations, stored, serialise)
              }))
              : Result.map(
                valid(rejectOtherId(decoders.patch(body), body, id, identifier)),
                (changes) => ({
                  _tag: "Merge",
                  changes: { ...changes, ...Object.fromEntries(removed.map((field) => [field, null])) }
                })
              )
          return permitting(
            isPatch
              ? closedTargetOf(body, mask)
              : mask.forbiddenIn(body, false) ?? removed.find((field) => mask.isUnwritable(field)),
            () => Result.flatMap(read(), (body) => readHeaders(request, id, body, instead))
          )
        }
      )
    },
    delete: (id, request) => Effect.succeed(readHeaders(request, id, undefined))
  }
}

/** Adds the preconditions and preferences of the request's headers to the body. */
export const readHeaders = <Body>(request: Request, id: unknown, body: Body, instead?: Instead): Read<Body> => {
  const headers = headersOf(request)
  const conditions = preconditions.read(headers)
  return Result.isFailure(conditions)
    ? Result.fail(conditions.failure)
    // Node joins the lines of a header, as RFC 7240 defines.
    : Result.succeed({
      id,
      body,
      conditions: conditions.success,
      prefer: instead?.prefer ?? preference.returnOf(headers["prefer"]?.toString())
    })
}

// internal

type Decode = ReturnType<typeof bodyDecoder>

/** Reads a body, or fails with `Forbidden` if `found` names a field that the caller may not send. */
const permittingBy =
  (mask: WriteMask) =>
  <Body>(found: string | undefined, read: () => Read<Body>): Effect.Effect<Read<Body>, Forbidden> => {
    if (found !== undefined) return Effect.fail(fieldForbidden(found))
    const result = read()
    if (mask.isEmpty || Result.isSuccess(result)) return Effect.succeed(result)
    // A problem with an unwritable field is a 403: the value can't be the stored one.
    const problem = result.failure.find(({ field }) => mask.isUnwritable(withoutIndexes(field)))
    return problem === undefined ? Effect.succeed(result) : Effect.fail(fieldForbidden(problem.field))
  }

/** The first field that a JSON Patch changes and its caller can neither see nor write. */
const closedTargetOf = (patch: unknown, mask: WriteMask): string | undefined => {
  if (mask.isEmpty || !Array.isArray(patch)) return undefined
  for (const operation of patch) {
    const { from, op, path }: { readonly [key: string]: unknown } = Predicate.isObject(operation) ? operation : {}
    for (const pointer of op === "test" ? [] : op === "move" ? [path, from] : [path]) {
      const name = typeof pointer === "string" ? tokensOf(pointer).join(".") : ""
      if (mask.isClosed(withoutIndexes(name))) return name
    }
  }
  return undefined
}

const valid = (decoded: Decoded): Result.Result<Values, ReadonlyArray<FieldProblem>> =>
  decoded._tag === "Valid" ? Result.succeed(decoded.value) : Result.fail(decoded.problems)

const hasId = (body: unknown): boolean => Predicate.isObject(body) && (Reflect.get(body, "id") ?? null) !== null

/** Reads a document to insert. With an identifier it may break rules, if the same values are stored already. */
const documentOf = (
  { create, idProblem, replace }: Creation & { readonly replace: Decode },
  mayHaveId: boolean,
  read: (decode: Decode) => Decoded
): Result.Result<OneDocument, ReadonlyArray<FieldProblem>> => {
  const decoded = read(create)
  const problems = decoded._tag === "Invalid" ? decoded.problems : undefined
  if (problems !== undefined && !mayHaveId) return Result.fail(problems)
  const body = problems === undefined ? decoded : read(replace)
  const id = body._tag === "Valid" ? body.value["id"] ?? undefined : undefined
  if (problems !== undefined && id === undefined) return Result.fail(problems)
  const problem = idProblem(id)
  return problem === undefined
    ? Result.map(valid(body), (value) => ({ _tag: "One", value, problems }))
    : Result.fail([problem])
}

/** Reads the documents of a list. */
const documentsOf = (
  { costlyIn, create, idProblem }: Creation,
  body: ReadonlyArray<unknown>
): Read<ManyDocuments> =>
  Result.map(
    readItems(body, { costlyIn, decode: create, problemOf: ({ id }) => idProblem(id), maxItems }),
    (values) => ({
      id: undefined,
      body: { _tag: "Many", values },
      conditions: preconditions.none,
      prefer: undefined
    })
  )

/** Adds the identifier of the URL to a body that has none. */
const idCompleter = (model: Model.Any, { jsonOf }: Identifier) => {
  const idField = managedField(model, "id")
  return idField === undefined || !isRequiredInput(model, idField)
    ? (body: unknown): unknown => body
    : (body: unknown, id: unknown): unknown =>
      Predicate.isObject(body) && (Reflect.get(body, idField) ?? null) === null
        ? { ...body, [idField]: jsonOf(id) }
        : body
}

/** Decodes a replacement. A body that only breaks rules passes: the write validates what differs. */
const replacingDecoder = (model: Model.Any, variant: "create" | "patch", decode: Decode): Decode => {
  let decodeAny: Decode | undefined
  return (body) => {
    const decoded = decode(body)
    if (decoded._tag === "Valid") return decoded
    decodeAny ??= bodyDecoder(withoutRules(model, variant))
    const any = decodeAny(body)
    return any._tag === "Valid" ? any : decoded
  }
}

const jsonTypes = ["application/json"]

const postTypes = [...jsonTypes, "multipart/form-data"]

const jsonPatch = "application/json-patch+json"

/** Whether the body is a JSON Patch by its type. */
export const isJsonPatch = (request: Request): boolean =>
  mediaTypeOf(headersOf(request)["content-type"] ?? "") === jsonPatch

export const patchTypes: ReadonlyArray<string> = [...jsonTypes, "application/merge-patch+json", jsonPatch]

/** Rejects a body whose identifier, as it was sent, is not that of the URL. */
const rejectOtherId = (decoded: Decoded, sent: unknown, id: unknown, { parse }: Identifier): Decoded => {
  const sentId = ownValue(sent, "id")
  const text = typeof sentId === "number" ? String(sentId) : sentId
  const isOwn = typeof text === "string" && Equal.equals(parse(text), id)
  if (text === undefined || text === null || isOwn) return decoded
  const others = decoded._tag === "Valid" ? [] : decoded.problems.filter(({ field }) => field !== otherId.field)
  return { _tag: "Invalid", problems: [otherId, ...others] }
}

const otherId = { field: "id", validator: "Id", message: "is not the one in the URL" }

/** Rejects identifiers that are the paths of other endpoints. The model rejects what no URL can address. */
const idProblemOf = (model: Model.Any) => {
  const reserved: ReadonlySet<unknown> = new Set(reservedIdsOf(model))
  return (id: unknown): FieldProblem | undefined =>
    reserved.has(id) ? { field: "id", validator: "Url", message: "can't be part of a URL" } : undefined
}
