/** The routes of the explorer: its page for everybody, its description for those whom it is for, and who is signed in. */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Permission from "../../Access/Permission.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { Lifetimes } from "../../Security/SignIns.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import { type ExplorerAt, explorerRoutesAt } from "../explorer/options.ts"
import { assetOfPage, pageOf } from "../explorer/page.ts"
import { makeRenewals, signingIn, signingOut } from "../explorer/session.ts"
import { operationLabels } from "../response/translatedResponses.ts"
import { innerAnswers } from "../routes/innerAnswers.ts"
import { type Responding, withoutParameters } from "../routes/route.ts"
import { pageEndpoint } from "./builtInRoutes.ts"
import { describedFile, type MonitoringPage, servedDocument, tokenPathOf } from "./servedDocument.ts"
import type { Composing, ServedRoute } from "./surroundings.ts"

interface Made extends Composing {
  readonly explorer: ExplorerAt
  /** The pages for those who operate the service. */
  readonly monitoring: ReadonlyArray<MonitoringPage>
  readonly respondingOf: (route: ServedRoute) => Responding
  readonly routes: ReadonlyArray<ServedRoute>
}

/** Makes the routes. */
export const explorerRoutes = Effect.fnUntraced(function*(made: Made) {
  const { access, api: { id: name }, explorer: options, limits, respondBadRequest, respondingOf, routes } = made
  const openApi = made.openApi ?? { title: name, version: "1.0.0" }
  // Where tokens are issued; `undefined` if nowhere.
  const tokenPath = tokenPathOf(made.registrations)
  const at = explorerRoutesAt(options.path)
  const found = (path: string) => routes.find((route) => route.method === "POST" && route.path === path)
  const [token, revoke] = tokenPath === undefined ? [] : [found(tokenPath), found(`${tokenPath}/revoke`)]
  const hasSession = tokenPath !== undefined && token !== undefined && revoke !== undefined
  const cookieName = `appkernel-session-${name.replaceAll(/[^\w-]/gu, "-")}`
  const page = pageOf({
    title: openApi.title,
    depth: options.path.split("/").length - 1,
    document: options.of?.document ?? at.document,
    session: hasSession && options.of === undefined ? { path: at.session, cookieName } : undefined,
    tokens: options.of?.tokens
  })
  const open = (
    method: "GET" | "POST" | "DELETE",
    path: `/${string}`,
    handler: ServedRoute["handler"]
  ): ServedRoute => ({
    method,
    path,
    handler,
    respondBadRequest
  })
  const { require = Permission.Authenticated } = options
  const asked = hasSession ? yield* innerAnswers(token, respondingOf(token), maxAnswer) : undefined
  const sessions = hasSession && asked !== undefined
    ? {
      cookieName,
      store: yield* DocumentStore,
      tokenPath,
      token: asked,
      renewals: yield* makeRenewals({ token: asked, tokenPath }),
      revoke: yield* innerAnswers(revoke, respondingOf(revoke), maxAnswer),
      maxAge: Math.ceil(Duration.toSeconds((yield* Lifetimes).refreshToken)),
      limits
    }
    : undefined
  return [
    open("GET", at.page, page),
    open("GET", at.assets, assetOfPage),
    {
      ...open(
        "GET",
        at.document,
        withoutParameters(
          yield* describing(made, servedDocument({ ...made, openApi, schemes: access?.schemes ?? [] })),
          respondBadRequest
        )
      ),
      endpoint: access === undefined ? undefined : pageEndpoint("explorer", "description", at.document, require)
    },
    ...sessions === undefined ? [] : [
      { ...open("POST", at.session, signingIn(sessions)), delegates: true },
      { ...open("DELETE", at.session, signingOut(sessions)), delegates: true }
    ]
  ] satisfies ReadonlyArray<ServedRoute>
})

// internal

/** Of the tokens of a sign-in, in bytes. */
const maxAnswer = 65_536

/** The OpenAPI document of the caller: what they may do, see and set. */
const describing = Effect.fnUntraced(function*(
  { access, all, monitoring, security, translations }: Made,
  documentOf: ReturnType<typeof servedDocument>
) {
  if (access === undefined) {
    const labelsOf = (request: HttpServerRequest.HttpServerRequest) =>
      operationLabels(translations, request.headers["accept-language"])
    const files = yield* Cache.make({
      capacity: 64,
      lookup: (key: string) =>
        describedFile({
          document: documentOf(AccessPolicy.make(all, false)),
          pages: monitoring,
          registrations: all,
          labels: operationLabels(translations, key.split("\n", 1)[0])
        })
    })
    return Effect.withFiber(({ context }: Fiber.Fiber<unknown, unknown>) => {
      const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
      const { tag = "", version } = labelsOf(request) ?? {}
      return Effect.map(Cache.get(files, `${tag}\n${version}`), ({ respond }) => respond(request))
    })
  }
  const { callerDocument } = yield* Effect.promise(() => import("./access.ts"))
  return yield* callerDocument({
    registrations: all,
    monitoring,
    translations,
    roles: security?.roles,
    documentOf: (policy) => documentOf(policy, { omitsUnreachable: true }),
    unauthenticated: access.credentialsNeeded
  })
})
