/** A resource behind grants: each request names the caller in a header, without authentication. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import * as Layer from "effect/Layer"
import { filtersOfMethod } from "../../src/Access/decision/rowFilters.ts"
import * as Views from "../../src/Access/internal.ts"
import { endpointsOf } from "../../src/Http/description/standardEndpoints.ts"
import * as KernelConfig from "../../src/Http/KernelConfig.ts"
import * as Registration from "../../src/Http/registration/registration.ts"
import { inputFields } from "../../src/Http/response/fieldResolver.ts"
import { makeListResponses } from "../../src/Http/response/listResponse.ts"
import { makeResponseBudget } from "../../src/Http/response/responseBudget.ts"
import { makeBadRequest, makeErrorResponses } from "../../src/Http/response/translatedResponses.ts"
import { KeptTexts } from "../../src/Http/response/wireText.ts"
import { withErrorResponses } from "../../src/Http/routes/errorBoundary.ts"
import { implemented } from "../../src/Http/routes/implemented.ts"
import { type Asked, type ResourceSurroundings, viewedHandlers } from "../../src/Http/routes/resourceRoutes.ts"
import { routerConfig } from "../../src/Http/routes/routing.ts"
import * as Translations from "../../src/Http/Translations.ts"
import { DocumentStore, KernelServer, type Model, Repository, type Resource } from "../../src/index.ts"
import { modelMatcher } from "../../src/Repository/evaluation.ts"
import { AccessDecision, type EffectiveGrant, type ModelDecision } from "../../src/Repository/internal.ts"

/** A grant; `check` is the same as `rows` unless it is given. */
export type Granted = Omit<EffectiveGrant, "check" | "id"> & Partial<Pick<EffectiveGrant, "check">>

/** What a caller holds. */
export interface View {
  readonly read: ReadonlyArray<Granted>
  readonly write: ReadonlyArray<Granted>
}

/** What a caller holds, by the method of the request. */
export type Grants = (caller: string, method: string) => View

const effective = (grants: ReadonlyArray<Granted>) => grants.map((grant, id) => ({ id, check: grant.rows, ...grant }))

const decisionOf = (model: Model.Any, { read, write }: View, method: string): ModelDecision => {
  const [reading, writing] = [effective(read), effective(write)]
  return {
    read: reading,
    write: writing,
    rows: filtersOfMethod(method === "GET" ? reading : writing),
    rowsBy: (some) => filtersOfMethod(writing.filter((grant) => some.includes(grant))),
    links: undefined,
    matcher: (filter) => modelMatcher(model, filter),
    reason: ""
  }
}

export const servingViewed = <E>(
  resource: Resource.Any,
  store: Layer.Layer<DocumentStore.DocumentStore, E>,
  grants: Grants,
  cursors: ResourceSurroundings["cursors"] = {},
  texts = new KeptTexts(1_000_000)
) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const documents = yield* DocumentStore.DocumentStore
    const limits = yield* KernelConfig.Limits
    const translations = Translations.configured
    const registration = implemented(Registration.ofResource(resource.description), [resource])
    if (registration._tag !== "Resource") return yield* Effect.die("no resource")
    const { model, path } = registration
    const repository = yield* Repository.make(model)
    const lists = makeListResponses(
      makeResponseBudget(4 * limits.maxPageBytes, limits.queryTimeout),
      limits.maxPageBytes,
      Effect.undefined
    )
    const surroundings = {
      cursors,
      deletedHandlers: undefined,
      doors: new Map(),
      limits,
      lists,
      translations,
      live: undefined,
      tables: undefined,
      uploads: undefined,
      texts,
      views: Views
    }
    const handlersFor = viewedHandlers(registration, repository, documents, surroundings)
    const respondBadRequest = makeBadRequest(translations, inputFields(model))
    const errorResponses = makeErrorResponses(translations)
    const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
    yield* router.addAll(
      endpointsOf(registration).flatMap(({ isMany, method, name, path: own }) => {
        // These ask another one, or are made of the others.
        if (name === "query" || isMany) return []
        const handler = Effect.withFiber((fiber) => {
          const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const endpoint = decisionOf(model, grants(headers["x-caller"] ?? "", method), method)
          return Effect.provideService(handlersFor(endpoint)[name as Asked], AccessDecision, {
            endpoint,
            addressed: { model, rows: endpoint.rows },
            of: () => Effect.succeed(endpoint),
            linksAt: () => Effect.succeed({ endpoints: [], matcher: () => () => true }),
            origin: {},
            grants: () => []
          })
        })
        const answer = withErrorResponses(handler, respondBadRequest, errorResponses)
        return [HttpRouter.route(method, `${path}${own}`, answer)]
      })
    )
    yield* HttpServer.serveEffect(Effect.orDie(router.asHttpEffect()))
  })).pipe(
    Layer.provideMerge(store),
    Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))
  )
