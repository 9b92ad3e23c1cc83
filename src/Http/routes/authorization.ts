import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type { ModelLike } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { CallerRules } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import type { Rules } from "../../Security/Grant.ts"
import { type Held, heldBy, rulesFor, type Situation } from "../../Security/introspection.ts"
import { type Caller, describe, type Failure, or } from "../../Security/Permission.ts"
import { Forbidden } from "../HttpError.ts"
import { en } from "../messages/catalogues/en.ts"
import { translatable } from "../messages/message.ts"
import type { ResponseEffect } from "../response/callFailures.ts"
import { identifierOf } from "../response/identifier.ts"
import { CallerViews, type Rights } from "../view/callerView.ts"
import {
  accessOnDemand,
  heldFor,
  type RuledModel,
  rulesOfHandler,
  rulesOfRoute,
  viewOf,
  withAllData
} from "./callerAccess.ts"
import { type LinkRules, rightsElsewhere, rightsOfRoute } from "./linkRights.ts"
import { type PreparedAccess, preparedAccess, unruledAccess } from "./preparedAccess.ts"

/**
 * An endpoint as rules name it.
 *
 * @internal
 */
export interface RuledEndpoint {
  /** The name of the registration, for the log. */
  readonly registration: string
  readonly rules: Rules
  /** A method, or the name of an action or operation. */
  readonly name: string
  readonly isCall: boolean
  readonly path: `/${string}`
  /** The model of a resource, with its repository. */
  readonly resource: { readonly ruled: RuledModel; readonly repository: Repository<Model.Any> } | undefined
}

/**
 * Decides what callers may do.
 *
 * @internal
 */
export interface Authorizer {
  /**
   * A handler under the rules of its endpoint: it runs if the current user may do this, with the rows and the fields of what
   * they hold in its context. Otherwise nobody is answered by `onNobody`, and a user by 403.
   */
  readonly authorized: (endpoint: RuledEndpoint, handler: ResponseEffect, onNobody: ResponseEffect) => ResponseEffect
  /** A handler of a route that no rule names: it runs for everybody, and its repositories have the rights of the caller. */
  readonly unruled: <A, E, R>(handler: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** @internal */
export const makeAuthorizer = (
  /** All registrations of models. */
  registrations: ReadonlyArray<RuledModel>,
  roles: { readonly [role: string]: ReadonlyArray<string> }
): Authorizer => {
  const asCaller = callersOf(roles)
  const callerOf = (user: Caller | undefined) => Option.fromUndefinedOr(user === undefined ? undefined : asCaller(user))
  return {
    unruled: (handler) =>
      Effect.withFiber((fiber) => {
        const about = {
          caller: callerOf(Context.getOrUndefined(fiber.context, CurrentUser)),
          request: Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        }
        fiber.setContext(
          entered(fiber.context, unruledAccess, undefined, elsewhere(registrations, about, { path: about.request.url }))
        )
        return handler
      }),
    authorized: (endpoint, handler, onNobody) => {
      const { isCall, name, path, resource, rules } = endpoint
      const own = rulesFor(rules, name, isCall)
      // A POST with the identifier of a document replaces it.
      const others = resource === undefined ? [] : ["GET", ...(name === "POST" && !isCall ? ["PUT"] : [])]
      const links = linkRulesIn(endpoint)
      // In the same order on every route, so that the filters of its documents' rights, and their entity tags, are the same.
      const numbers = [
        ...new Set([...own, ...others.flatMap((method) => rulesFor(rules, method, false)), ...links?.numbers ?? []])
      ].toSorted((one, other) => one - other)
      const isOwn: ReadonlySet<number> = new Set(own)
      const isAddressed = path.includes("/:id")
      const missing = missingIn(endpoint, own)
      const where = placeOf(endpoint)
      const prepared = preparedAccess({ ruled: resource?.ruled, links, isOwn, name, isCall })
      const situationOf = (
        user: Caller | undefined,
        request: HttpServerRequest.HttpServerRequest,
        id: string | undefined
      ): Situation => ({
        caller: callerOf(user),
        request,
        document: isAddressed && resource !== undefined && id !== undefined
          ? documentOf(resource.repository, id)
          : Effect.succeedNone,
        model: resource?.repository.model,
        isSubject: (subject) =>
          resource === undefined ? subject === id : resource.ruled.subjects(subject, isAddressed ? id : undefined)
      })
      return Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
        const user = Context.getOrUndefined(fiber.context, CurrentUser)
        const situation = situationOf(user, request, params["id"])
        const enter = (access: PreparedAccess, rights: Rights | undefined): ResponseEffect => {
          fiber.setContext(entered(fiber.context, access, rights, elsewhere(registrations, situation, where)))
          return handler
        }
        const decide = (held: ReadonlyArray<Held>): ResponseEffect => {
          if (!held.some(({ id }) => isOwn.has(id))) return user === undefined ? onNobody : missing
          const access = prepared(user, held)
          if (links === undefined || access.rights !== undefined) return enter(access, access.rights)
          const rights = rightsOfRoute(rules, links, held, situation)
          return Effect.isEffect(rights)
            ? Effect.flatMap(withAllData(rights), (rights) => enter(access, rights))
            : enter(access, rights)
        }
        const held = heldBy(rules, numbers, situation)
        return Effect.isEffect(held) ? Effect.flatMap(withAllData(held), decide) : decide(held)
      })
    }
  }
}

/** What the caller of a request may do with models, whatever the route, which `where` names in the log. */
const elsewhere = (
  registrations: ReadonlyArray<RuledModel>,
  { caller, request }: Pick<Situation, "caller" | "request">,
  where: Place
): Elsewhere => {
  const about = ({ model, subjects }: RuledModel) => ({
    caller,
    request,
    model,
    isSubject: (subject: string) => subjects(subject, undefined)
  })
  return {
    access: accessOnDemand(
      registrations,
      (registration) =>
        heldBy(registration.rules, registration.numbers, { ...about(registration), document: Effect.succeedNone })
    ),
    rightsAt: (path) => {
      const at = registrations.find((registration) => registration.path === path)
      if (at?.links === undefined) return Effect.succeed([])
      const rights = rightsElsewhere(at.rules, at.links, about(at))
      return Effect.isEffect(rights) ? withAllData(readable(rights)) : Effect.succeed(rights)
    },
    refused: (model, operation) => {
      const { modelName } = model
      const isUnruled = registrations.every((one) => one.model !== model || one.rules.grants.length === 0)
      const reason = isUnruled ? `${modelName} is registered without a rule` : "the caller's grants do not allow it"
      return Effect.annotateLogs(
        Effect.logInfo(`A handler may not write this: ${reason}. Repository.unrestricted(${modelName}) has no rules`),
        {
          ...where,
          model: modelName,
          operation,
          subject: Option.match(caller, { onNone: () => "", onSome: subjectOf })
        }
      )
    }
  }
}

const subjectOf = ({ subject }: Caller) => subject

interface Elsewhere extends Pick<CallerViews, "rightsAt">, Required<Pick<RulesOfCaller, "refused">> {
  readonly access: ReturnType<typeof accessOnDemand>
}

type RulesOfCaller = NonNullable<(typeof CallerRules)["Service"]>

/** Where the log says that something was refused. */
type Place = { readonly [name: string]: string }

const placeOf = ({ isCall, name, registration }: RuledEndpoint): Place => ({
  registration,
  [isCall ? "call" : "method"]: name
})

/** The rules of the links in the answers of an endpoint; `undefined` if it is an action, or its answers have no documents. */
const linkRulesIn = ({ isCall, name, path, resource }: RuledEndpoint): LinkRules | undefined =>
  resource !== undefined && !isCall && name !== "DELETE" &&
    (path === resource.ruled.path || path === `${resource.ruled.path}/:id`)
    ? resource.ruled.links
    : undefined

/** The context of a handler, with the rows and the fields of its caller. */
const entered = (
  context: Context.Context<never>,
  { isCall, model, owned, rules, view }: PreparedAccess,
  rights: Rights | undefined,
  { access, refused, rightsAt }: Elsewhere
): Context.Context<never> => {
  const views: CallerViews = {
    own: view,
    of: (model) =>
      Effect.map(
        readable(access(model)),
        (held) => held === undefined ? undefined : viewOf(heldFor(held, ["GET"]), [], rulesOfRoute)
      ),
    rights,
    rightsAt
  }
  const other = (of: ModelLike) =>
    Effect.map(
      readable(access(of)),
      (held) => held === undefined ? undefined : rulesOfHandler(held, isCall && of === model ? rules : undefined)
    )
  const here = (of: ModelLike) => owned !== undefined && of === model ? owned : other(of)
  // Of the request's own document, the answer says enough.
  const elsewhere = { of: other, refused }
  const callerRules = owned === undefined ? elsewhere : { of: here, elsewhere }
  return Context.add(Context.add(context, CallerViews, views), CallerRules, callerRules)
}

/** A stored document that can't be decoded is a defect, as it is to a repository's other readers. */
const readable = <A>(held: Effect.Effect<A, Failure>) =>
  Effect.catchTag(held, "DocumentInvalid", (error) => Effect.die(error))

/** 403, which says nothing of what is missing; the log does. */
const missingIn = (endpoint: RuledEndpoint, own: ReadonlyArray<number>): ResponseEffect => {
  const permissions = own.flatMap((number) => endpoint.rules.grants[number]?.permission ?? [])
  const needs = permissions.length === 0 ? "nobody may" : describe(or(...permissions))
  return Effect.andThen(
    Effect.annotateLogs(Effect.logInfo("The caller may not do this"), { ...placeOf(endpoint), needs }),
    denied
  )
}

const denied: Effect.Effect<never, Forbidden> = Effect.suspend(() =>
  Effect.fail(translatable(new Forbidden({ message: en["errors.Denied"] }), "errors.Denied"))
)

/** The addressed document, read once, with all data. */
const documentOf = (
  repository: Repository<Model.Any>,
  text: string
): Effect.Effect<Option.Option<unknown>, Failure> => {
  let known: Option.Option<unknown> | undefined
  return Effect.suspend(() => {
    if (known !== undefined) return Effect.succeed(known)
    const id = identifierOf(repository.model).parse(text)
    if (id === undefined) return Effect.succeedNone
    const found = Effect.catchTag(Effect.asSome(repository.findById(id)), "DocumentNotFound", () => Effect.succeedNone)
    return Effect.map(found, (document) => {
      known = document
      return document
    })
  })
}

/**
 * Callers as rules see them: with the roles that theirs include, and those that these include, and without claims that are
 * `null`, which would match what has no value.
 *
 * @internal
 */
export const callersOf = (
  roles: { readonly [role: string]: ReadonlyArray<string> }
): (user: Caller) => Caller => {
  const table = new Map(Object.entries(roles))
  const withIncluded = (own: ReadonlyArray<string>): ReadonlyArray<string> => {
    if (table.size === 0) return own
    const all = new Set(own)
    // A set is iterated with what is added on the way.
    for (const role of all) for (const included of table.get(role) ?? []) all.add(included)
    return all.size === own.length ? own : [...all]
  }
  return (user) => {
    const roles = withIncluded(user.roles)
    const hasNone = !hasNull(user.claims)
    return roles === user.roles && hasNone
      ? user
      : { ...user, roles, claims: hasNone ? user.claims : withoutNulls(user.claims) }
  }
}

const hasNull = (value: unknown): boolean => {
  if (typeof value !== "object") return false
  return value === null || (Array.isArray(value) ? value : Object.values(value)).some(hasNull)
}

const withoutNulls = (values: object): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => value === null ? [] : [[name, withoutNullsIn(value)]])
  )

const withoutNullsIn = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => item === null ? [] : [withoutNullsIn(item)])
  return typeof value === "object" && value !== null ? withoutNulls(value) : value
}
