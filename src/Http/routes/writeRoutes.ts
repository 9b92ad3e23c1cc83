import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { bodyDecoder, type Decoded, hasToBeSent, managedField, withoutRules } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { identifierOf } from "../description/identifier.ts"
import { maxItems } from "../description/limits.ts"
import { reservedIds } from "../description/standardEndpoints.ts"
import type { Limits } from "../KernelConfig.ts"
import type { ResourceInfo } from "../Registration.ts"
import { documentPatcher } from "../request/documentPatch.ts"
import { decodeForm, readForm } from "../request/form.ts"
import { maxDepth, mediaTypeOf, readJson } from "../request/jsonBody.ts"
import { isMultipart, readMultipart } from "../request/multipart.ts"
import * as preconditions from "../request/preconditions.ts"
import * as preference from "../request/prefer.ts"
import { refusingExcess } from "../request/unknownKeys.ts"
import type { Answer } from "../response/failures.ts"
import * as answers from "../response/json.ts"
import * as Links from "../response/links.ts"
import type { Representation } from "../response/representation.ts"
import type { Refuse } from "../response/translation.ts"
import { readItems } from "./bulkInsert.ts"
import { type Write, writesOf, type Written } from "./conditionalWrites.ts"
import { headersOf, notFound, withIdOf, withRequest } from "./route.ts"

type Request = HttpServerRequest.HttpServerRequest

type Values = Record<string, unknown>

/**
 * What changes the documents of a resource.
 *
 * @internal
 */
export const writeRoutes = (
  registration: ResourceInfo,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  representation: Representation,
  { limits, refuse }: { readonly limits: Limits; readonly refuse: Refuse }
): { readonly [N in "create" | "replace" | "patch" | "delete"]: Answer } => {
  const { model, path } = registration
  const { jsonOf, parse, print, valueOf, write: writeId } = identifierOf(model)
  const idField = managedField(model, "id")
  /** The identifier stands in the URL: a body need not repeat it. */
  const isNamedByUrl = idField !== undefined && hasToBeSent(model, idField)
  const naming = (body: unknown, id: unknown): unknown =>
    isNamedByUrl && Predicate.isObject(body) && (Reflect.get(body, idField) ?? null) === null
      ? { ...body, [idField]: jsonOf(id) }
      : body
  const isOwn = (id: unknown) => (named: unknown) => typeof named === "string" && Equal.equals(parse(named), id)
  const writes = writesOf(registration, repository, store)
  const isStrict = registration.onExcessProperty === "error"
  const refusing = (variant: "create" | "patch", decode: Decode): Decode =>
    isStrict ? refusingExcess(model[variant], decode) : decode
  const create = refusing("create", bodyDecoder(model.create))
  const replace = refusing("create", replacingDecoder(model, "create"))
  const patch = refusing("patch", replacingDecoder(model, "patch"))
  const patcher = documentPatcher(model, {
    serialise: representation.serialise,
    decode: replacingDecoder(model, "patch"),
    maxDepth,
    maxOperations: 1_000,
    maxCopied: limits.maxBodySize
  })
  const versionField = managedField(model, "version")
  const formLimits = {
    maxMultipartSize: limits.maxMultipartSize,
    maxFieldSize: limits.maxBodySize,
    maxParts: 1_000
  }

  /** Hands on what was decoded, and the conditions of the request. */
  const decoded = (
    request: Request,
    body: Decoded,
    write: (value: Values, conditions: preconditions.Preconditions) => Write
  ): Answer =>
    body._tag === "Invalid" ?
      refuse(body.problems) :
      conditional(request, (conditions) => answerTo(request, write(body.value, conditions)))

  const conditional = (
    request: Request,
    use: (conditions: preconditions.Preconditions) => Answer
  ): Answer => {
    const conditions = preconditions.read(headersOf(request))
    return Result.isFailure(conditions) ? refuse(conditions.failure) : use(conditions.success)
  }

  /** Says what was done, or shows the document where the request prefers that (RFC 7240). */
  const answerTo = (request: Request, write: Write): Answer => {
    const preferred = preference.returnOf(preferOf(request))
    return Effect.flatMapEager(write, (written) => {
      const status = written.created ? 201 : 200
      const own = headersFor(written)
      const headers = preferred === undefined ? own : { ...own, ...preference.appliedHeaders[preferred] }
      if (preferred !== "representation") {
        return Effect.succeed(answers.operationResult(writeId(written.id), status, headers))
      }
      return Effect.flatMap(
        written.document === undefined
          ? repository.findDocumentById(valueOf(written.id))
          : Effect.succeed(written.document),
        (document) =>
          document === undefined
            ? Effect.fail(notFound(model, print(written.id)))
            : representation.answer(document, status, {
              ...headers,
              "content-location": Links.hrefOf(path, print(written.id))
            })
      )
    })
  }

  /** Of every write of a versioned document its `ETag`, of an insertion its `Location`. */
  const headersFor = ({ created, document, id }: Written): { readonly [name: string]: string } | undefined => {
    const etag = document === undefined ? inserted : representation.headersOf(document)
    return created ? { location: Links.hrefOf(path, print(id)), ...etag } : etag
  }
  const inserted = versionField === undefined ? undefined : { etag: preconditions.etagOf(1) }

  const createAll = (body: ReadonlyArray<unknown>): Answer => {
    const items = readItems(body, {
      decode: create,
      problemOf: ({ id }) => typeof id === "string" ? idProblem(id) : undefined,
      maxItems
    })
    return items._tag === "Invalid"
      ? refuse(items.problems)
      : Effect.map(
        writes.createAll(items.values),
        (ids) => answers.operationResult(`[${ids.map(writeId).join(",")}]`, 201)
      )
  }

  /** Inserts what `read` decodes. Where it breaks rules, it may be what is there already. */
  const createOne = (request: Request, read: (decode: Decode) => Decoded): Answer => {
    const valid = read(create)
    const problems = valid._tag === "Invalid" ? valid.problems : undefined
    const body = problems === undefined ? valid : read(replace)
    const id = body._tag === "Valid" ? body.value["id"] ?? undefined : undefined
    if (problems !== undefined && id === undefined) return refuse(problems)
    const problem = typeof id === "string" ? idProblem(id) : undefined
    return problem === undefined
      ? decoded(request, body, (value, conditions) => writes.create(value, conditions, problems))
      : refuse([problem])
  }

  const post = withRequest((request) =>
    isMultipart(headersOf(request)["content-type"])
      ? Effect.flatMap(readMultipart(request, formLimits), (parts) =>
        Effect.suspend(() => {
          const form = readForm(model, parts, { maxDepth, isStrict })
          return createOne(request, (decode) => decodeForm(decode, form))
        }))
      : Effect.flatMapEager(readJson(request, postTypes, limits.maxBodySize), (body) =>
        Array.isArray(body) ? createAll(body) : createOne(request, (decode) => decode(body)))
  )

  const put = withIdOf(model, (id, request) =>
    Effect.flatMapEager(
      readJson(request, jsonTypes, limits.maxBodySize),
      (body) =>
        decoded(request, namingOwnId(replace(naming(body, id)), body, isOwn(id)), (value, conditions) =>
          writes.replace(id, value, conditions))
    ))

  const change = withIdOf(
    model,
    (id, request) =>
      Effect.flatMapEager(readJson(request, patchTypes, limits.maxBodySize), (body) => {
        if (mediaTypeOf(headersOf(request)["content-type"] ?? "") !== jsonPatch) {
          return decoded(
            request,
            namingOwnId(patch(body), body, isOwn(id)),
            (changes, conditions) => writes.patch(id, { _tag: "Merge", changes }, conditions)
          )
        }
        const operations = patcher.read(body)
        if (Result.isFailure(operations)) return refuse(operations.failure)
        const changesOf = (stored: Values) => patcher.changesOf(operations.success, stored)
        return conditional(
          request,
          (conditions) => answerTo(request, writes.patch(id, { _tag: "Patch", changesOf }, conditions))
        )
      })
  )

  const remove = withIdOf(
    model,
    (id, request) =>
      conditional(request, (conditions) => Effect.as(writes.remove(id, conditions), answers.operationResult("1")))
  )

  return { create: post, replace: put, patch: change, delete: remove }
}

type Decode = ReturnType<typeof bodyDecoder>

/**
 * Decodes what is written over a document. Where nothing but rules are broken that the stored values have as well, the
 * write asks them again of what differs.
 */
const replacingDecoder = (model: Model.Any, variant: "create" | "patch"): Decode => {
  const decode = bodyDecoder(model[variant])
  let decodeAny: Decode | undefined
  return (body) => {
    const decoded = decode(body)
    if (decoded._tag === "Valid") return decoded
    decodeAny ??= bodyDecoder(withoutRules(model, variant))
    const any = decodeAny(body)
    return any._tag === "Valid" ? any : decoded
  }
}

/** Node joins those of several lines, as RFC 7240 has it. */
const preferOf = (request: Request): string | undefined => headersOf(request)["prefer"]?.toString()

const jsonTypes = ["application/json"]

const postTypes = [...jsonTypes, "multipart/form-data"]

const jsonPatch = "application/json-patch+json"

const patchTypes = [...jsonTypes, "application/merge-patch+json", jsonPatch]

/** A body may name the document that the URL names, or none; what it names is looked at as it was sent. */
const namingOwnId = (decoded: Decoded, sent: unknown, isOwn: (named: unknown) => boolean): Decoded => {
  const named: unknown = typeof sent === "object" && sent !== null && Object.hasOwn(sent, "id")
    ? Reflect.get(sent, "id")
    : undefined
  const text = typeof named === "number" ? String(named) : named
  if (text === undefined || text === null || isOwn(text)) return decoded
  const others = decoded._tag === "Valid" ? [] : decoded.problems.filter(({ field }) => field !== otherId.field)
  return { _tag: "Invalid", problems: [otherId, ...others] }
}

const otherId = { field: "id", validator: "Id", message: "is not the one in the URL" }

/** Identifiers that no URL leads to: those of other endpoints, and those that clients resolve away. */
const unreachable: ReadonlySet<string> = new Set([...reservedIds, ".", ".."])

const idProblem = (id: string) =>
  unreachable.has(id) || !id.isWellFormed() || id.includes("\0")
    ? { field: "id", validator: "Url", message: "can't be part of a URL" }
    : undefined
