import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type { ModelLike } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { CallerRules, type RowRules, storedIdOf } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { Rules } from "../../Security/Grant.ts"
import { type Held, heldBy, rulesFor, type Situation } from "../../Security/introspection.ts"
import { type Caller, describe, type Failure, or } from "../../Security/Permission.ts"
import { Forbidden } from "../HttpError.ts"
import { en } from "../messages/catalogues/en.ts"
import { translatable } from "../messages/message.ts"
import type { ResponseEffect } from "../response/callFailures.ts"
import { identifierOf } from "../response/identifier.ts"
import { CallerViews } from "../view/callerView.ts"
import {
  accessOnDemand,
  heldFor,
  type RuledModel,
  rulesOfAddressing,
  rulesOfCreating,
  rulesOfHandler,
  rulesOfRoute,
  viewOf,
  withAllData
} from "./callerAccess.ts"
import { HandlerRules, type RulesOfModels } from "./handlerRules.ts"
import { type LinkRules, rightsElsewhere, rightsOfRoute } from "./linkRights.ts"

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
   * A handler under the rules of its endpoint: it runs if the caller may do this, with the rows and the fields of what the
   * caller holds in its context. Otherwise nobody is answered by `onNobody`, and a caller by 403.
   */
  readonly authorized: (
    endpoint: RuledEndpoint,
    handler: ResponseEffect
  ) => (user: Caller | undefined, onNobody: ResponseEffect) => ResponseEffect
  /** A handler of a route that no rule names: it runs for everybody, and its repositories have the rights of the caller. */
  readonly unruled: <A, E, R>(handler: Effect.Effect<A, E, R>) => (user: Caller | undefined) => Effect.Effect<A, E, R>
}

/** @internal */
export const makeAuthorizer = (
  /** All registrations of models. */
  registrations: ReadonlyArray<RuledModel>,
  roles: { readonly [role: string]: ReadonlyArray<string> }
): Authorizer => {
  const withIncluded = includedRoles(roles)
  const callerOf = (user: Caller | undefined) =>
    Option.fromUndefinedOr(user === undefined ? undefined : withIncluded(user))
  return {
    unruled: (handler) => (user) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const { access, rightsAt } = elsewhere(registrations, callerOf(user), request)
        const entered = contextOf({
          access,
          links: { rights: undefined, rightsAt },
          ruled: undefined,
          own: [],
          all: [],
          name: "",
          isCall: false
        })
        fiber.setContext(Context.merge(fiber.context, entered))
        return handler
      }),
    authorized: (endpoint, handler) => {
      const { isCall, name, path, resource, rules } = endpoint
      const own = rulesFor(rules, name, isCall)
      // A POST with the identifier of a document replaces it.
      const others = resource === undefined ? [] : ["GET", ...(name === "POST" && !isCall ? ["PUT"] : [])]
      const links = linkRulesIn(endpoint)
      const asked = [
        ...new Set([...own, ...others.flatMap((method) => rulesFor(rules, method, false)), ...links?.numbers ?? []])
      ]
      const isOwn: ReadonlySet<number> = new Set(own)
      const isAddressed = path.includes("/:id")
      const missing = missingIn(endpoint, own)
      const subjectOf = resource === undefined ? undefined : subjectsOf(resource.ruled.model)

      /** Sets what the caller holds, and runs the handler. */
      const enter = (
        fiber: Fiber.Fiber<unknown, unknown>,
        held: ReadonlyArray<Held>,
        access: ReturnType<typeof accessOnDemand>,
        links: Pick<CallerViews, "rights" | "rightsAt">
      ): ResponseEffect => {
        const held_ = held.filter(({ id }) => isOwn.has(id))
        const entered = contextOf({
          access,
          links,
          ruled: resource?.ruled,
          own: held_,
          all: held,
          name,
          isCall
        })
        fiber.setContext(Context.merge(fiber.context, entered))
        return handler
      }

      return (user, onNobody) =>
        Effect.withFiber((fiber) => {
          const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
          const caller = callerOf(user)
          const id = params["id"]
          const document = isAddressed && resource !== undefined && id !== undefined
            ? documentOf(resource.repository, id)
            : Effect.succeedNone
          const situation: Situation = {
            caller,
            request,
            document,
            model: resource?.repository.model,
            isSubject: (subject) =>
              subjectOf === undefined ? subject === id : subjectOf(subject, isAddressed ? id : undefined)
          }
          const { access, rightsAt } = elsewhere(registrations, caller, request)
          const decide = (held: ReadonlyArray<Held>): ResponseEffect => {
            if (!held.some(({ id }) => isOwn.has(id))) return user === undefined ? onNobody : missing
            if (links === undefined) return enter(fiber, held, access, { rights: undefined, rightsAt })
            const rights = rightsOfRoute(rules, links, held, situation)
            return Effect.isEffect(rights)
              ? Effect.flatMap(withAllData(rights), (rights) => enter(fiber, held, access, { rights, rightsAt }))
              : enter(fiber, held, access, { rights, rightsAt })
          }
          const held = heldBy(rules, asked, situation)
          return Effect.isEffect(held) ? Effect.flatMap(withAllData(held), decide) : decide(held)
        })
    }
  }
}

/** What the caller of a request may do with models, whatever the route. */
const elsewhere = (
  registrations: ReadonlyArray<RuledModel>,
  caller: Option.Option<Caller>,
  request: HttpServerRequest.HttpServerRequest
) => {
  const about = ({ model }: RuledModel) => ({
    caller,
    request,
    model,
    isSubject: (subject: string) => subjectsOf(model)(subject, undefined)
  })
  const access = accessOnDemand(registrations, (registration) =>
    heldBy(
      registration.rules,
      registration.rules.grants.map((_, number) => number),
      { ...about(registration), document: Effect.succeedNone }
    ))
  const rightsAt = (path: string) => {
    const at = registrations.find((registration) => registration.path === path)
    if (at?.links === undefined) return Effect.succeed([])
    const rights = rightsElsewhere(at.rules, at.links, about(at))
    return Effect.isEffect(rights) ? withAllData(readable(rights)) : Effect.succeed(rights)
  }
  return { access, rightsAt }
}

/** The rules of the links in the answers of an endpoint; `undefined` if it is an action, or its answers have no documents. */
const linkRulesIn = ({ isCall, name, path, resource }: RuledEndpoint): LinkRules | undefined =>
  resource !== undefined && !isCall && name !== "DELETE" &&
    (path === resource.ruled.path || path === `${resource.ruled.path}/:id`)
    ? resource.ruled.links
    : undefined

/** The rows and the fields of a caller, as a handler gets them. */
const contextOf = ({ access, all, isCall, links, name, own, ruled }: {
  readonly links: Pick<CallerViews, "rights" | "rightsAt">
  readonly access: ReturnType<typeof accessOnDemand>
  readonly ruled: RuledModel | undefined
  /** What the caller holds for the endpoint. */
  readonly own: ReadonlyArray<Held>
  /** With the grants for `GET` and, for a `POST`, those for `PUT`. */
  readonly all: ReadonlyArray<Held>
  readonly name: string
  readonly isCall: boolean
}): Context.Context<never> => {
  const views: CallerViews = {
    ...links,
    own: ruled === undefined
      ? undefined
      : viewOf(heldFor([{ registration: ruled, held: all }], ["GET"]), [{ registration: ruled, held: own }]),
    of: (model: ModelLike) =>
      Effect.map(readable(access(model)), (held) => held === undefined ? undefined : viewOf(heldFor(held, ["GET"]), []))
  }
  const inHandler = (addressed: RowRules | undefined): RulesOfModels => ({
    of: (model) =>
      Effect.map(
        readable(access(model)),
        (held) => held === undefined ? undefined : rulesOfHandler(held, model === ruled?.model ? addressed : undefined)
      )
  })
  const withViews = Context.make(CallerViews, views)
  if (ruled === undefined) return Context.add(withViews, CallerRules, inHandler(undefined))
  const heldHere = (method: string) =>
    heldFor([{ registration: ruled, held: all }], [method]).flatMap(({ held }) => held)
  const ownRules = isCall
    ? rulesOfAddressing(own, heldHere("GET"))
    : name === "POST"
    ? rulesOfCreating(own, heldHere("PUT"))
    : rulesOfRoute(own)
  const other = inHandler(isCall ? ownRules : undefined)
  const owned = Effect.succeed(ownRules)
  const here: RulesOfModels = { of: (model) => model === ruled.model ? owned : other.of(model) }
  const entered = Context.add(withViews, CallerRules, here)
  return isCall || ruled.hasHooks ? Context.add(entered, HandlerRules, other) : entered
}

/** A stored document that can't be decoded is a defect, as it is to a repository's other readers. */
const readable = <A>(held: Effect.Effect<A, Failure>) =>
  Effect.catchTag(held, "DocumentInvalid", (error) => Effect.die(error))

/** 403, which says nothing of what is missing; the log does. */
const missingIn = (
  { isCall, name, registration, rules }: RuledEndpoint,
  own: ReadonlyArray<number>
): ResponseEffect => {
  const permissions = own.flatMap((number) => rules.grants[number]?.permission ?? [])
  const needs = permissions.length === 0 ? "nobody may" : describe(or(...permissions))
  return Effect.andThen(
    Effect.annotateLogs(Effect.logInfo("The caller may not do this"), {
      registration,
      [isCall ? "call" : "method"]: name,
      needs
    }),
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
  const id = identifierOf(repository.model).parse(text)
  if (id === undefined) return Effect.succeedNone
  let known: Option.Option<unknown> | undefined
  const found = Effect.catchTag(Effect.asSome(repository.findById(id)), "DocumentNotFound", () => Effect.succeedNone)
  return Effect.suspend(() => {
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(found, (document) => {
      known = document
      return document
    })
  })
}

/**
 * What `CurrentSubject` says of a model's documents: whether the subject is the addressed one, and a filter for it.
 *
 * @internal
 */
export const subjectsOf = (model: ModelLike) => {
  const { parse, print } = identifierOf(model)
  const toStored = storedIdOf(model)
  const stored = (text: string): unknown => {
    const id = parse(text)
    return id === undefined ? undefined : toStored(id)
  }
  return (subject: string, addressed: string | undefined) => {
    const own = stored(subject)
    if (own === undefined) return false
    if (addressed !== undefined && addressed !== subject) {
      const other = stored(addressed)
      if (other === undefined || print(other) !== print(own)) return false
    }
    return { _id: own }
  }
}

/**
 * A caller with the roles that theirs include, and those that these include.
 *
 * @internal
 */
export const includedRoles = (
  roles: { readonly [role: string]: ReadonlyArray<string> }
): (user: Caller) => Caller => {
  const table = new Map(Object.entries(roles))
  if (table.size === 0) return (user) => user
  return (user) => {
    const all = new Set(user.roles)
    // A set is iterated with what is added on the way.
    for (const role of all) for (const included of table.get(role) ?? []) all.add(included)
    return all.size === user.roles.length ? user : { ...user, roles: [...all] }
  }
}
