/**
 * Decides what the caller of a request may do: once for each request, for its endpoint and, when it is asked for, for the
 * other models. It stands apart from `internal.ts` because it loads the query language, which a service without access
 * control has no use for. Users cannot import this module.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import type { ModelLike } from "../Model/internal.ts"
import type * as Model from "../Model/Model.ts"
import {
  AccessDecision,
  type EffectiveGrant,
  identifierOf,
  type ModelDecision,
  nothing,
  ownerOf
} from "../Repository/internal.ts"
import type { Deleted, Repository } from "../Repository/Repository.ts"
import type { ReadError } from "../Repository/RepositoryError.ts"
import { documentDecision, notAllowed } from "./decision/documentDecision.ts"
import {
  type AccessRequest,
  dependsOnDocument,
  effectiveGrants,
  makeCallers,
  makeIncluding
} from "./decision/effectiveGrants.ts"
import { type ModelPolicy, subjectFilterOf } from "./decision/modelPolicy.ts"
import { linksOfAny, linksOfRequest } from "./decision/permittedLinks.ts"
import { filtersOfHandler, filtersOfMethod } from "./decision/rowFilters.ts"
import type { Rules } from "./Grant.ts"
import { type Caller, type Failure, or } from "./Permission.ts"

export { type ModelPolicy, modelPolicy } from "./decision/modelPolicy.ts"

/** An endpoint as grants name it. */
export interface GuardedEndpoint {
  /** The name of the registration, for the log. */
  readonly registration: string
  readonly rules: Rules
  /** A method, or the name of an action or operation. */
  readonly name: string
  readonly isOperation: boolean
  readonly path: `/${string}`
  /** The model of a resource. */
  readonly resource: { readonly policy: ModelPolicy; readonly repository: Repository<Model.Any> } | undefined
  /** Which documents permissions look at. An operation that has it answers documents with links, as methods do. */
  readonly documents?: Deleted | undefined
  /** Whether an operation compares the entity tag of its document, which is that of a `GET` with links. */
  readonly isConditional?: boolean | undefined
  /** The parameter that asks for these documents; without it in the URL, permissions look at those that are not deleted. */
  readonly askedBy?: string | undefined
  /** The method that an operation is, with a parameter: it is for documents that the grants for the method allow as well. */
  readonly asMethod?: string | undefined
}

type Request = HttpServerRequest.HttpServerRequest

export interface AccessControl {
  /** Decides requests to an endpoint. */
  readonly at: (endpoint: GuardedEndpoint) => EndpointAccess
  /** The decision for a route without grants, which everybody may use. */
  readonly open: (user: Caller | undefined, request: Request) => AccessDecision
  /** Roles with those that they include. */
  readonly withIncluded: (roles: ReadonlyArray<string>) => ReadonlyArray<string>
}

interface EndpointAccess {
  /** The decision; `undefined` if the caller may not use the endpoint. `id` is the identifier in the URL. */
  readonly decide: (
    user: Caller | undefined,
    request: Request,
    id: string | undefined
  ) => Effect.Effect<AccessDecision | undefined, Failure>
  /** Whether a permission depends on the addressed document. */
  readonly dependsOnDocument: boolean
  /** The endpoint, for the log. */
  readonly origin: Origin
  /** Who may use it, in words. */
  readonly needs: string
}

type Origin = AccessDecision["origin"]

type Roles = { readonly [role: string]: ReadonlyArray<string> }

export const makeAccessControl = (
  /** The policies of all registered models. */
  policies: ReadonlyArray<ModelPolicy>,
  /** The roles that roles include. */
  roles: Roles
): AccessControl => {
  const withIncluded = makeIncluding(roles)
  const callerOf = makeCallers(withIncluded)
  return {
    withIncluded,
    open: (user, request) => {
      // A query may have secrets, such as a signature.
      const origin = { path: request.url.replace(/\?.*$/su, "") }
      return requestDecision(policies, { caller: callerOf(user), request }, origin, () => [], undefined)
    },
    at: (endpoint) => {
      const { asMethod, askedBy, documents, isOperation, name, path, registration, resource, rules } = endpoint
      const ownIds = rules.idsFor(name, isOperation)
      const isOwn: ReadonlySet<number> = new Set(ownIds)
      const policy = resource?.policy
      const links = hasLinks(endpoint) ? policy?.links : undefined
      // A POST with the identifier of a document replaces it.
      const others = resource === undefined
        ? []
        : ["GET", ...(name === "POST" && !isOperation ? ["PUT"] : []), ...asMethod === undefined ? [] : [asMethod]]
      // In the same order on every route, so that the filters of its links, and its entity tags, are the same.
      const ids = [
        ...new Set([...ownIds, ...others.flatMap((method) => rules.idsFor(method, false)), ...links?.ids ?? []])
      ].toSorted((one, other) => one - other)
      const isAddressed = path.includes("/:id")
      const origin: Origin = { registration, [isOperation ? "call" : "method"]: name }
      const decideFor = policy &&
        documentDecision({
          policy,
          hasLinks: links !== undefined,
          isOperation,
          name,
          ownIds: isOwn,
          within: asMethod
        })
      const permissions = ownIds.flatMap((id) => rules.grants[id]?.permission ?? [])
      return {
        origin,
        dependsOnDocument: permissions.some(dependsOnDocument),
        needs: permissions.length === 0 ? "nobody may" : or(...permissions).words,
        decide: (user, request, id) => {
          const addressed = isAddressed ? id : undefined
          const about: AccessRequest = {
            caller: callerOf(user),
            request,
            document: resource !== undefined && addressed !== undefined
              ? documentOf(resource.repository, addressed, isAsked(request, askedBy) ? documents : undefined)
              : Effect.succeedNone,
            model: resource?.repository.model,
            subjectFilter: (subject) =>
              policy === undefined
                ? subject === id ? undefined : nothing
                : policy.subjectFilter(subject, addressed)
          }
          return Effect.flatMapEager(effectiveGrants(rules, ids, about), (grants) => {
            if (!grants.some(({ id }) => isOwn.has(id))) return Effect.undefined
            const decided = (own: ModelDecision | undefined) =>
              requestDecision(
                policies,
                about,
                origin,
                () => grants.flatMap(({ id }) => isOwn.has(id) ? descriptionOf(rules, id) : []),
                own === undefined || policy === undefined ? undefined : { model: policy.model, isOperation, own }
              )
            const own = decideFor?.(user, grants)
            return own === undefined || own.links !== undefined || links === undefined
              ? Effect.succeed(decided(own))
              : Effect.mapEager(
                linksOfRequest({ rules, links }, grants, about),
                (permitted) => decided({ ...own, links: permitted })
              )
          })
        }
      }
    }
  }
}

/**
 * The numbers of the grants of each registration that apply to a caller for some document, or may apply: what a permission says
 * of a document is not known.
 */
export const makePossibleGrants = (
  registrations: ReadonlyArray<{ readonly rules: Rules; readonly model: Model.Any | undefined }>,
  roles: Roles
) => {
  const callerOf = makeCallers(makeIncluding(roles))
  const prepared = registrations.map(({ model, rules }) => ({
    rules,
    model,
    ids: rules.grants.map((_, id) => id),
    subjectFilter: model && subjectFilterOf(model)
  }))
  return (user: Caller | undefined, request: Request): Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, Failure> =>
    withAllData(Effect.forEach(prepared, ({ ids, model, rules, subjectFilter }) =>
      Effect.map(
        effectiveGrants(rules, ids, {
          caller: callerOf(user),
          request,
          model,
          subjectFilter: (subject) => subjectFilter?.(subject, undefined),
          document: undefined
        }),
        (grants) => grants.map(({ id }) => id)
      )))
}

/** Evaluates grants with all data. */
export const withAllData = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, AccessDecision, undefined)

// internal

const isAsked = ({ url }: Request, askedBy: string | undefined): boolean =>
  askedBy === undefined || new URLSearchParams(url.slice(url.indexOf("?") + 1)).has(askedBy)

/** The addressed document, read once, with all data. */
const documentOf = (
  repository: Repository<Model.Any>,
  text: string,
  documents: Deleted | undefined
): Effect.Effect<Option.Option<unknown>, Failure> => {
  let known: Option.Option<unknown> | undefined
  return Effect.suspend(() => {
    if (known !== undefined) return Effect.succeed(known)
    const id = identifierOf(repository.model).parse(text)
    if (id === undefined) return Effect.succeedNone
    // Only models with soft deletion have endpoints for deleted documents.
    const read = repository.findById(id, { deleted: documents as undefined })
    const found = Effect.catchTag(Effect.asSome(read), "DocumentNotFound", () => Effect.succeedNone)
    return Effect.map(found, (document) => {
      known = document
      return document
    })
  })
}

const descriptionOf = ({ grants }: Rules, id: number): ReadonlyArray<string> => {
  const grant = grants[id]
  return grant === undefined ? [] : [grant.permission.words]
}

/** Whether an endpoint answers documents with links, or compares such answers. */
const hasLinks = ({ documents, isConditional, isOperation, path, resource }: GuardedEndpoint): boolean =>
  resource !== undefined && (isOperation
    ? documents !== undefined || isConditional === true
    : path === resource.policy.path || path === `${resource.policy.path}/:id` ||
      path === `${resource.policy.path}/changes`)

const requestDecision = (
  policies: ReadonlyArray<ModelPolicy>,
  { caller, request }: Pick<AccessRequest, "caller" | "request">,
  origin: Origin,
  grants: AccessDecision["grants"],
  endpoint: { readonly model: ModelLike; readonly isOperation: boolean; readonly own: ModelDecision } | undefined
): AccessDecision => {
  const about = (policy: ModelPolicy) => ({
    caller,
    request,
    model: policy.model,
    subjectFilter: (subject: string) => policy.subjectFilter(subject, undefined)
  })
  const decide = (model: ModelLike, own: ReadonlyArray<ModelPolicy>): Effect.Effect<ModelDecision, ReadError> => {
    // What a grant of a form says of rows and fields is about that form: of the documents as the model has them it opens none. It still
    // is a grant of its kind, in whose place another kind's would count.
    const saidBy = (policy: ModelPolicy) => (grant: EffectiveGrant): EffectiveGrant =>
      policy.model === model ||
        (grant.rows === undefined && grant.check === undefined && grant.fields === undefined)
        ? grant
        : { ...grant, rows: nothing, check: nothing, fields: undefined }
    const grants = Effect.forEach(
      own,
      (policy) => effectiveGrants(policy.rules, policy.ids, { ...about(policy), document: Effect.succeedNone })
    )
    return Effect.map(readable(grants), (all) => ({
      read: own.flatMap((policy, i) => policy.forPrivilege(all[i]!, "read").map(saidBy(policy))),
      write: [],
      rows: filtersOfHandler(
        (privilege) => own.flatMap((policy, i) => policy.forPrivilege(all[i]!, privilege).map(saidBy(policy))),
        endpoint?.isOperation === true && endpoint.model === model ? endpoint.own.rows : undefined
      ),
      rowsBy: filtersOfMethod,
      links: undefined,
      // All policies are for the model.
      matcher: own[0]!.matcher,
      reason: own.every(({ ids }) => ids.length === 0)
        ? `${model.modelName} is registered without a rule`
        : notAllowed
    }))
  }
  const decided = onceForEach(decide)
  return {
    grants,
    endpoint: endpoint?.own,
    addressed: endpoint === undefined ? undefined : { model: endpoint.model, rows: endpoint.own.rows },
    of: (model) => {
      const own = policies.filter((policy) => policy.model === model)
      const rest = own.length > 0 ? [] : policies.filter((policy) => ownerOf(policy.model) === ownerOf(model))
      return own.length + rest.length === 0 ? Effect.undefined : decided(model, [...own, ...rest])
    },
    linksAt: (path) => {
      const policy = policies.find((policy) => policy.path === path)
      return policy?.links === undefined
        ? Effect.succeed({ endpoints: [], matcher: () => () => false })
        : readable(linksOfAny({ rules: policy.rules, links: policy.links }, about(policy)))
    },
    origin: { ...origin, subject: Option.match(caller, { onNone: () => "", onSome: ({ subject }) => subject }) }
  }
}

/** Runs an effect once for each key, and one at a time. Most requests work with the model of their endpoint only. */
const onceForEach = <K, B, A, E>(run: (key: K, input: B) => Effect.Effect<A, E>) => {
  let asked: { readonly known: Map<K, A>; readonly turn: Semaphore.Semaphore } | undefined
  return (key: K, input: B): Effect.Effect<A, E> => {
    const { known, turn } = asked ??= { known: new Map(), turn: Semaphore.makeUnsafe(1) }
    const found = known.get(key)
    if (found !== undefined) return Effect.succeed(found)
    return turn.withPermits(1)(Effect.suspend(() => {
      const before = known.get(key)
      return before === undefined
        ? Effect.tap(run(key, input), (value) => Effect.sync(() => known.set(key, value)))
        : Effect.succeed(before)
    }))
  }
}

/** A stored document that can't be decoded is a defect, as it is to a repository's other readers. */
const readable = <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A, ReadError> =>
  Effect.catchTag(withAllData(effect), "DocumentInvalid", (error) => Effect.die(error))
