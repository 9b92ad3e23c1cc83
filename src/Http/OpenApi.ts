/**
 * The OpenAPI document of a service.
 *
 * It is generated from the service's `HttpApi`, which also defines its server and typed clients, and completed with the
 * registrations' knowledge of their models.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as EffectOpenApi from "effect/http-api/OpenApi"
import type * as Model from "../Model/Model.ts"
import { type AccessPolicy, endpointOf } from "./AccessPolicy.ts"
import { rawOf } from "./description/raw.ts"
import type { StandardEndpoint } from "./description/standardEndpoints.ts"
import { Tags } from "./description/tags.ts"
import { RateLimiting } from "./Guard.ts"
import * as KernelConfig from "./KernelConfig.ts"
import { admittingEntries, fieldRules, withAccess } from "./openapi/access.ts"
import * as Schemas from "./openapi/componentSchemas.ts"
import { withEntityTag } from "./openapi/entityTagHeaders.ts"
import { withErrorSchemas, withProblems } from "./openapi/errors.ts"
import { fileOperations } from "./openapi/fileOperations.ts"
import { withIdempotencyKey } from "./openapi/idempotencyKeys.ts"
import * as Json from "./openapi/node.ts"
import { expandablePaths } from "./openapi/parameters.ts"
import {
  bracedOf,
  type Call,
  inReadingOrder,
  joined,
  operationsIn,
  type Tag,
  tagsOf,
  withoutParameterCalls
} from "./openapi/paths.ts"
import { sampling } from "./openapi/samples.ts"
import { bearer, type SecurityScheme } from "./openapi/securitySchemes.ts"
import { sharing } from "./openapi/sharedParts.ts"
import { completeConditional, completeStandard } from "./openapi/standardOperations.ts"
import { closing } from "./openapi/strictSchemas.ts"
import { summaryOf } from "./openapi/texts.ts"
import { watchedChanges } from "./openapi/watchedChanges.ts"
import { relationsOf } from "./registration/relations.ts"

export type { Call, Tag } from "./openapi/paths.ts"

export type { SecurityScheme } from "./openapi/securitySchemes.ts"

/**
 * An OpenAPI 3.1.0 document as a plain object, for `JSON.stringify` and for tools.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  readonly openapi: "3.1.0"
  readonly info: Info
  readonly servers: ReadonlyArray<Server>
  readonly security: ReadonlyArray<{ readonly [scheme: string]: ReadonlyArray<string> }>
  readonly tags: ReadonlyArray<Tag>
  /** Path items by path, whose parameters stand in braces: `/api/v1/users/{id}`. */
  readonly paths: { readonly [path: string]: PathItem }
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema }
    /** The parameters of several operations, which refer to them. */
    readonly parameters?: { readonly [name: string]: object }
    /** The headers of several responses, which refer to them. */
    readonly headers?: { readonly [name: string]: object }
    /** The responses of several operations, which refer to them. */
    readonly responses?: { readonly [name: string]: object }
    readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  }
}

/**
 * The description of the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Info {
  readonly title: string
  /** The version of the API, in any format. */
  readonly version: string
  readonly [key: string]: unknown
}

/**
 * The location of the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Server {
  /** Absolute, or relative to the document's location; without a trailing slash. */
  readonly url: string
  readonly description?: string | undefined
}

/**
 * The operations of one path, by their methods in lower case.
 *
 * @category models
 * @since 0.1.0
 */
export interface PathItem {
  readonly [method: string]: Operation
}

/**
 * One operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly [key: string]: unknown
}

/**
 * A JSON schema (draft 2020-12), as OpenAPI 3.1 has it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Schema {
  readonly [keyword: string]: unknown
}

/**
 * The input of the document: an engine, or any other object with an `HttpApi` and resources.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly api: HttpApi.Constraint
  readonly registrations: ReadonlyArray<
    & {
      readonly calls: ReadonlyArray<Call>
      /** Whether bodies may have undeclared keys. Defaults to `ignore`. */
      readonly onExcessProperty?: "ignore" | "error" | undefined
      /** Whether writes take an `Idempotency-Key`. Defaults to what the limits say. */
      readonly idempotencyKeys?: KernelConfig.Limits["idempotencyKeys"] | undefined
      /** Whether responses to `GET` have entity tags. */
      readonly caching?: { readonly pageTags: boolean } | undefined
    }
    & ({ readonly _tag: "Service" } | { readonly _tag: "Resource" } & Schemas.Resource)
  >
  /** Who may call what. Without one, or without security, there is no access control. */
  readonly policy?: AccessPolicy | undefined
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly title: string
  /** The version of the API, in any format. */
  readonly version: string
  /** Markdown. */
  readonly description?: string | undefined
  /** Defaults to the origin of the document. */
  readonly servers?: ReadonlyArray<Server> | undefined
  /** The current limits, for the parameters of collections. Defaults to those of `KernelConfig`. */
  readonly limits?:
    | Pick<KernelConfig.Limits, "defaultPageSize" | "maxPageSize">
      & Partial<Pick<KernelConfig.Limits, "skipUnreadable" | "onKnownId" | "idempotencyKeys" | "maxExpandDepth">>
    | undefined
  /**
   * How callers of a service with access control prove who they are, by name; any of them suffices. Defaults to those that are
   * provided to the service, and to `bearer` where that is unknown.
   */
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme } | undefined
  /** Whether a check of credentials may be refused after failed attempts (429). Defaults to whether `basic` is a scheme. */
  readonly slowsSignIns?: boolean | undefined
  /** Whether what the policy lets nobody do, see or set is left out. Defaults to false: the document says so. */
  readonly omitsUnreachable?: boolean | undefined
}

/**
 * Generates the document. It adds no routes; `Documentation` serves it.
 *
 * **Details**
 *
 * The operations are those of the `HttpApi`, without retired registrations. The annotations `OpenApi.Summary`,
 * `Description`, `Deprecated`, `Identifier`, `Override`, `Transform` and `Exclude` of `effect/http-api` apply to groups
 * and endpoints. A model is one component, `User`; `UserCreate` and `UserPatch` are its inputs, in which omitted fields
 * are `writeOnly`. Every error is an `ErrorMessage`.
 *
 * **Gotchas**
 *
 * Schemas accept undeclared properties, since the server ignores them and responses may get more of them. Those of
 * bodies reject them (`additionalProperties: false`) if the registration sets `onExcessProperty: "error"`. Rules in
 * code (`Validator.past`, filters) can't be described.
 *
 * **Example** (The document of an engine)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { KernelEngine, Model, OpenApi } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}
 *
 * const engine = KernelEngine.make("notes").register(Note, { urlBase: "/api/v1" })
 * const document = OpenApi.make(engine, { title: "Notes", version: "1.0.0" })
 *
 * document.openapi // => "3.1.0"
 * Object.keys(document.paths).includes("/api/v1/notes/{id}") // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ api: described, policy, registrations }: Source, options: Options): Document => {
  // The source is an `HttpApi` with hidden type parameters.
  const api = withoutParameterCalls(described as HttpApi.Top, registrations)
  const resources = registrations.filter((registration) => registration._tag === "Resource")
  const omits = options.omitsUnreachable === true
  const hasPolicy = policy?.isEnabled === true
  const entries = admittingEntries(hasPolicy ? policy.entries : [])
  const registered = operationsIn(registrations)
  const entriesAt = (key: string) => {
    const { call, registration, standard } = registered.get(key) ?? {}
    const path = registration?._tag === "Resource" && standard !== undefined
      ? `${registration.path}${standard.path}`
      : call?.path
    return entries.get(`${(standard ?? call)?.method} ${path}`)
  }
  const fields = fieldRules(hasPolicy ? resources : [], entries, omits)
  const schemes = hasPolicy ? options.securitySchemes ?? bearer : {}
  const requirements = Object.keys(schemes).map((name) => ({ [name]: [] }))
  const slowsSignIns = options.slowsSignIns ?? Object.values(schemes).some(({ scheme }) => scheme === "basic")
  const relations = (model: Model.Any) => relationsOf(model, registrations)
  const reachedOf = ({ calls }: { readonly calls: ReadonlyArray<Call> }) =>
    calls.filter((call) => !omits || entries.get(endpointOf(call))?.length !== 0)
  const shown = resources.map((resource) => ({ ...resource, calls: reachedOf(resource) }))
  const schemas = Schemas.make(api, shown, fields, relations)
  const generated = EffectOpenApi.fromApi(schemas.api, { referencePolicy: schemas.referencePolicy })
  const { complete, components: open, generated: made, ignored, known } = schemas.finish(generated)
  const { close, finish, resolve } = closing(open, ignored)
  const withSamples = sampling(open, made)
  const limits = options.limits ?? KernelConfig.Limits.defaultValue()
  const details = detailsOf(api)
  const reached = omits ? reachableIn(generated.paths, (key) => entriesAt(key)?.length !== 0) : generated.paths
  const own = Json.mapOperations(inReadingOrder(reached, resources), (value, method, path) => {
    const key = `${method} ${path}`
    const { isLimited, name, tags } = details.get(key) ?? { name: key, tags: [], isLimited: false }
    const { call, registration, standard } = registered.get(key) ?? {}
    const operation = Json.mapSchemas(value, complete)
    const completed = registration?._tag !== "Resource"
      ? operation
      : standard === undefined
      ? call !== undefined && call.method !== "GET"
        ? completeConditional(operation, call, registration)
        : operation
      : completeStandard(operation, standard, {
        // What a parameter asks for is left out as an operation of its own would be.
        resource: {
          ...registration,
          calls: reachedOf(registration)
        },
        limits,
        known,
        hidden: fields.hiddenOf(registration.model),
        expandable: expandablePaths(registration.model, {
          depth: limits.maxExpandDepth ?? KernelConfig.Limits.defaultValue().maxExpandDepth,
          relations,
          hiddenOf: (model) => fields.hiddenOf(model)
        })
      })
    // Caches don't store the changes of a collection.
    const isTagged = registration?.caching?.pageTags === true && method === "get" && standard?.name !== "changes"
    const tagged = isTagged ? withEntityTag(completed) : completed
    const sampled = withSamples(
      isRepeatable(method, { call, standard })
        ? withIdempotencyKey(
          tagged,
          registration?.idempotencyKeys ?? limits.idempotencyKeys ?? "none",
          known.errorMessage
        )
        : tagged
    )
    const described = {
      ...withErrorSchemas(
        registration?.onExcessProperty === "error" ? close(sampled) : sampled,
        method,
        isLimited || slowsSignIns ? [] : ["429"]
      ),
      summary: completed["summary"] ?? summaryOf(name),
      tags: tags.length === 0 ? operation["tags"] : tags
    }
    const accessed = withAccess(described, entriesAt(key), { requirements, errorMessage: known.errorMessage })
    return ordered(withProblems(accessed, known.problemOf))
  })
  const operations = { ...own, ...fileOperations(own, resources, resolve), ...watchedChanges(own, resources) }
  const { components, rename } = finish(Json.operationsOf(operations).map(({ operation }) => operation))
  const shared = sharing(joined(Json.mapOperations(operations, rename)))
  const { paths } = shared
  const { description, license, summary } = generated.info
  const securitySchemes = { ...generated.components.securitySchemes, ...schemes }
  return {
    openapi: "3.1.0",
    info: {
      title: options.title,
      version: options.version,
      ...present({ summary, description: options.description ?? description, license })
    },
    servers: options.servers ?? generated.servers ?? [{ url: "/" }],
    security: requirements,
    tags: tagsOf(paths, resources, generated.tags),
    paths: paths as Document["paths"], // what the type says of operations is what they have by now
    components: {
      schemas: components as Document["components"]["schemas"], // objects, all of them
      // Parts are objects.
      ...shared.components as Pick<Document["components"], "parameters" | "headers" | "responses">,
      ...Object.keys(securitySchemes).length === 0 ? {} : { securitySchemes }
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether answers to the operation of a registration are kept for repeated requests. */
const isRepeatable = (
  method: string,
  { call, standard }: { readonly call?: Call | undefined; readonly standard?: StandardEndpoint | undefined }
): boolean =>
  method !== "get" && standard?.isMany !== true && standard?.name !== "query" &&
  (standard !== undefined || call !== undefined && isRepeatableCall(call))

const isRepeatableCall = ({ options }: Call): boolean =>
  rawOf(Reflect.get(Object(options), "payload")) === undefined &&
  Reflect.get(Object(options), "idempotencyKeys") !== "none"

interface Detail {
  readonly name: string
  readonly tags: ReadonlyArray<string>
  /** Whether the operation limits how often it is called, whatever the credentials are. */
  readonly isLimited: boolean
}

/** What the generator does not carry over, by method and path. */
const detailsOf = (api: HttpApi.Top): ReadonlyMap<string, Detail> => {
  const details = new Map<string, Detail>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      if (Context.get(endpoint.annotations, EffectOpenApi.Exclude)) return
      const path = bracedOf(endpoint.path)
      const own = Context.getOrElse(endpoint.annotations, Tags, () => [])
      const first = Context.getOrElse(group.annotations, Tags, () => [])
      const tags = [...new Set([...first, ...own])]
      const isLimited = endpoint.middlewares.has(RateLimiting) ||
        Array.from(endpoint.error).some(({ ast }) => ast.context?.annotations?.["httpApiStatus"] === 429)
      details.set(`${endpoint.method.toLowerCase()} ${path}`, { name: endpoint.identifier, tags, isLimited })
    }
  })
  return details
}

/** The path items without the other operations, and without items that then have none. */
const reachableIn = (paths: Json.Node, isReachable: (key: string) => boolean): Json.Node =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) => {
      const left = Json.omitBy(Json.nodeOf(item), (method) => !isReachable(`${method} ${path}`))
      return Object.keys(left).length === 0 ? [] : [[path, left]]
    })
  )

/** The keys in reading order. */
const ordered = ({
  deprecated,
  description,
  operationId,
  parameters,
  requestBody,
  responses,
  summary,
  tags,
  ...others
}: Json.Node): Json.Node =>
  present({
    operationId,
    summary,
    description,
    tags,
    deprecated,
    parameters: Json.listOf(parameters).length === 0 ? undefined : parameters,
    requestBody,
    responses,
    ...others
  })

const present = (values: Json.Node): Json.Node =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
