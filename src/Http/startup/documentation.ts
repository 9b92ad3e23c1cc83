/**
 * Serves the OpenAPI document of a service and two pages that show it in a browser.
 *
 * The service itself serves all files. The pages' `Content-Security-Policy` allows no other source, and requests only
 * to the servers that the document names.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { readFile } from "node:fs/promises"
import type { Permission } from "../../Access/Permission.ts"
import type * as OpenApi from "../OpenApi.ts"
import * as File from "../openapi/cachedFile.ts"
import { openApiPath, redocPath, swaggerPath } from "../openapi/documentationPaths.ts"

/** A route to mount. @internal */
export interface DocumentationRoute {
  readonly method: "GET"
  readonly path: `/${string}`
  /** Handles the request that the server provides. Never fails. */
  readonly handler: Effect.Effect<HttpServerResponse.HttpServerResponse>
}

/**
 * Options of {@link routes}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Whether to serve the pages besides the document. Defaults to true. */
  readonly includeDocs?: boolean | undefined
  /**
   * Whether the document of a service with access control has only what its caller may do, see and set. Callers without
   * credentials get what everybody may, or a 401 if that is nothing. Defaults to false: everybody gets the whole document.
   */
  readonly perCaller?: boolean | undefined
  /**
   * Who gets the document and the pages of a service with access control. A browser asks for a name and a password if HTTP basic
   * is among the schemes. Defaults to everybody.
   */
  readonly require?: Permission<boolean, never> | ReadonlyArray<Permission<boolean, never>> | undefined
}

/**
 * Routes for `/openapi.json` and, unless `includeDocs` is false, `/docs` (Swagger UI, which can call operations) and
 * `/redoc` (ReDoc, for reading), with their scripts and styles.
 *
 * **Details**
 *
 * The document is made and serialised at the first request for it, or for a page. Responses are compressed if the client accepts it, and have an `ETag`. The URLs of
 * scripts and styles contain a hash of their content, so browsers cache them for a year. Files are loaded at the first
 * request of a page. The pages refer to the document by a relative URL, so they work behind any prefix of a proxy.
 *
 * @internal
 */
export const routes = (
  document: Effect.Effect<OpenApi.Document>,
  options?: Pick<Options, "includeDocs">
): Effect.Effect<ReadonlyArray<DocumentationRoute>> =>
  Effect.gen(function*() {
    const json = Effect.flatMap(
      document,
      (document) => File.make(JSON.stringify(document), { contentType: "application/json" })
    )
    const openapi = yield* route(openApiPath, json)
    if (options?.includeDocs === false) return [openapi]
    const swaggerScript = yield* Effect.cached(
      Effect.flatMap(swaggerUi, ({ script }) => asset(`${script}\n${startSwaggerUi}`, "text/javascript"))
    )
    const swaggerStyles = yield* Effect.cached(Effect.flatMap(swaggerUi, ({ styles }) => asset(styles, "text/css")))
    const redocScript = yield* Effect.cached(
      Effect.flatMap(redoc, (script) => asset(`${script}\n${startRedoc}`, "text/javascript"))
    )
    return [
      openapi,
      yield* route(`${swaggerPath}/swagger-ui.js`, swaggerScript),
      yield* route(`${swaggerPath}/swagger-ui.css`, swaggerStyles),
      yield* route(`${redocPath}/redoc.js`, redocScript),
      yield* page(swaggerPath, document, {
        script: ["swagger-ui.js", swaggerScript],
        styles: ["swagger-ui.css", swaggerStyles]
      }),
      yield* page(redocPath, document, { script: ["redoc.js", redocScript] })
    ]
  })

// internal

const year = 31_536_000

const asset = (text: string, contentType: string): Effect.Effect<File.File> =>
  File.make(text, { contentType: `${contentType}; charset=utf-8`, maxAge: year })

const route = (path: DocumentationRoute["path"], file: Effect.Effect<File.File>): Effect.Effect<DocumentationRoute> =>
  Effect.map(Effect.cached(file), (cached) => ({ method: "GET", path, handler: File.respondWith(cached) }))

type Part = readonly [name: string, file: Effect.Effect<File.File>]

/** With a trailing slash, the page is one level below the files that it refers to. */
const page = Effect.fnUntraced(function*(
  path: `/${string}`,
  document: Effect.Effect<OpenApi.Document>,
  { script, styles }: { readonly script: Part; readonly styles?: Part }
): Effect.fn.Return<DocumentationRoute> {
  const fileAt = (base: string) => {
    const urlOf = ([name, file]: Part) => Effect.map(file, ({ hash }) => `${base}${name}?${hash}`)
    return Effect.gen(function*() {
      const { info: { title }, servers } = yield* document
      const headers = { "content-security-policy": policyFor(servers), "referrer-policy": "no-referrer" }
      const link = styles === undefined ? "" : `<link rel="stylesheet" href="${yield* urlOf(styles)}">`
      return yield* File.make(html(title, link, yield* urlOf(script)), {
        contentType: "text/html; charset=utf-8",
        headers
      })
    })
  }
  const beside = File.respondWith(yield* Effect.cached(fileAt(`${path.slice(1)}/`)))
  const below = File.respondWith(yield* Effect.cached(fileAt("")))
  return {
    method: "GET",
    path,
    handler: Effect.withFiber((fiber) => {
      const { url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      return /^[^?]*\/(?:\?|$)/u.test(url) ? below : beside
    })
  }
})

const html = (title: string, styles: string, script: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
${styles}
</head>
<body style="margin: 0">
<div id="documentation"></div>
<script src="${script}"></script>
</body>
</html>
`

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;")

/** `'unsafe-inline'` applies to styles only, which both pages create at run time. */
const policyFor = (servers: OpenApi.Document["servers"]): string => {
  const others = servers.flatMap(({ url }) => URL.canParse(url) ? [new URL(url).origin] : [])
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src ${["'self'", ...new Set(others)].join(" ")}`,
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

// The badge would send the document to an external validator. A request for tokens has no credentials of a client; the page
// sends empty ones, which a server has to refuse.
const startSwaggerUi = `SwaggerUIBundle({
  url: new URL("..${openApiPath}", document.currentScript.src).href,
  dom_id: "#documentation",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    if (request.headers?.Authorization === "Basic " + btoa(":")) delete request.headers.Authorization
    return request
  }
})`

const startRedoc = `Redoc.init(
  new URL("..${openApiPath}", document.currentScript.src).href,
  {},
  document.getElementById("documentation")
)`

/** The script and styles of Swagger UI. The platform ships them within a page for its own document. */
const swaggerUi: Effect.Effect<{ readonly script: string; readonly styles: string }> = Effect.map(
  Effect.acquireUseRelease(
    Effect.map(
      Effect.promise(() => import("effect/http-api/HttpApiSwagger")),
      (HttpApiSwagger) => HttpRouter.toWebHandler(HttpApiSwagger.layer(HttpApi.make("none")), { disableLogger: true })
    ),
    ({ handler }) =>
      Effect.flatMap(
        Effect.promise(() => handler(new Request("http://localhost/docs"))),
        (response) => Effect.promise(() => response.text())
      ),
    ({ dispose }) => Effect.promise(dispose)
  ),
  (page) => ({
    styles: page.slice(page.indexOf("<style>") + "<style>".length, page.indexOf("</style>")),
    script: page.slice(
      page.indexOf("<script>", page.indexOf("swagger-spec")) + "<script>".length,
      // The position where the page starts to show its own document.
      page.lastIndexOf("window.onload")
    )
  })
)

/** The script of ReDoc without the external resources that it would load: a logo and a source map. */
const redoc: Effect.Effect<string> = Effect.map(
  Effect.promise(() => readFile(new URL(import.meta.resolve("#redoc")), "utf8")),
  (script) =>
    script.replaceAll(/https:\/\/cdn\.redoc\.ly\/[\w./-]+/gu, emptyImage).replace(
      /\n\/\/# sourceMappingURL=\S+\s*$/u,
      ""
    )
)

const emptyImage = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
