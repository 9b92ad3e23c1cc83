/** A resource behind grants: each request names the caller in a header, without authentication. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import * as Layer from "effect/Layer"
import { endpointsOf } from "../../src/Http/description/standardEndpoints.ts"
import * as KernelConfig from "../../src/Http/KernelConfig.ts"
import * as Registration from "../../src/Http/Registration.ts"
import { type ItemTexts, makeItemTexts } from "../../src/Http/response/itemTexts.ts"
import { makeListResponses } from "../../src/Http/response/listResponse.ts"
import { inputFields } from "../../src/Http/response/problemFields.ts"
import { makeResponseBudget } from "../../src/Http/response/responseBudget.ts"
import { makeBadRequest, makeErrorResponses } from "../../src/Http/response/translation.ts"
import { rulesOfRoute } from "../../src/Http/routes/callerAccess.ts"
import { routerConfig, withErrorResponses } from "../../src/Http/routes/errorBoundary.ts"
import { type ResourceSurroundings, viewedHandlers } from "../../src/Http/routes/resourceRoutes.ts"
import { served } from "../../src/Http/routes/served.ts"
import * as Translations from "../../src/Http/Translations.ts"
import { type CallerView, CallerViews, type HeldGrant } from "../../src/Http/view/callerView.ts"
import { DocumentStore, KernelServer, Repository, type Resource } from "../../src/index.ts"
import { CallerRules, type RowRules } from "../../src/Repository/introspection.ts"

/** A grant; `check` is the same as `rows` unless it is given. */
export type Granted = Omit<HeldGrant, "check"> & Partial<Pick<HeldGrant, "check">>

/** What a caller holds. */
export interface View {
  readonly read: ReadonlyArray<Granted>
  readonly write: ReadonlyArray<Granted>
}

/** What a caller holds, by the method of the request. */
export type Grants = (caller: string, method: string) => View

const heldOf = (grants: ReadonlyArray<Granted>) => grants.map((grant, id) => ({ id, check: grant.rows, ...grant }))

const accessOf = ({ read, write }: View, method: string): { readonly view: CallerView; readonly rules: RowRules } => {
  const [reading, writing] = [heldOf(read), heldOf(write)]
  const rowRulesOf = (some: ReadonlyArray<HeldGrant>) => rulesOfRoute(writing.filter((grant) => some.includes(grant)))
  return {
    view: { read: reading, write: writing, rowRulesOf },
    rules: rulesOfRoute(method === "GET" ? reading : writing)
  }
}

export const servingViewed = <E>(
  resource: Resource.Any,
  store: Layer.Layer<DocumentStore.DocumentStore, E>,
  grants: Grants,
  cursors: ResourceSurroundings["cursors"] = {},
  itemTexts: ItemTexts = makeItemTexts()
) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const documents = yield* DocumentStore.DocumentStore
    const limits = yield* KernelConfig.Limits
    const translations = Translations.configured
    const registration = served(Registration.ofResource(resource.description), [resource])
    if (registration._tag !== "Resource") return yield* Effect.die("no resource")
    const { model, path } = registration
    const repository = yield* Repository.make(model)
    const lists = makeListResponses(
      makeResponseBudget(4 * limits.maxPageBytes, limits.queryTimeout),
      limits.maxPageBytes,
      Effect.undefined
    )
    const surroundings = { cursors, limits, lists, itemTexts, translations }
    const handlersFor = viewedHandlers(registration, repository, documents, surroundings)
    const respondBadRequest = makeBadRequest(translations, inputFields(model))
    const errorResponses = makeErrorResponses(translations)
    const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
    yield* router.addAll(
      endpointsOf(registration.methods).map(({ method, name, path: own }) => {
        const handler = Effect.withFiber((fiber) => {
          const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const { rules, view } = accessOf(grants(headers["x-caller"] ?? "", method), method)
          return Effect.provideContext(
            handlersFor(view)[name],
            Context.make(CallerViews, {
              own: view,
              of: () => Effect.succeed(view),
              rights: undefined,
              rightsAt: () => Effect.succeed([])
            }).pipe(
              Context.add(CallerRules, { of: () => Effect.succeed(rules) })
            )
          )
        })
        return HttpRouter.route(method, `${path}${own}`, withErrorResponses(handler, respondBadRequest, errorResponses))
      })
    )
    yield* HttpServer.serveEffect(Effect.orDie(router.asHttpEffect()))
  })).pipe(
    Layer.provideMerge(store),
    Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))
  )
