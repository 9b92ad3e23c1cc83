/**
 * The page of the explorer: a document that is made for each request, since the nonce of its policy is, and the files that it
 * loads, which have the hash of their content in their names.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { errorOf } from "../HttpError.ts"
import * as File from "../openapi/cachedFile.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import { headersOf } from "../routes/route.ts"

/** What the page says to its program. */
export interface PageOptions {
  readonly title: string
  /** The number of segments of the path of the page. */
  readonly depth: number
  /** Where the description is, as a path of the service. */
  readonly document: string
  /** Where somebody signs in by a cookie, and its name; `undefined` where nobody can. */
  readonly session: { readonly path: string; readonly cookieName: string } | undefined
  /** Where tokens are issued, if the description does not say it. */
  readonly tokens: string | undefined
}

/** Makes the page. Its addresses are relative, so that it works behind any prefix of a proxy. */
export const pageOf = (options: PageOptions): ResponseEffect =>
  Effect.withFiber(({ context }) => {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    const { url } = request
    // Without a cookie nobody is signed in, and what shows the documents can wait.
    const isStranger = options.session !== undefined && sendsCookies(request) &&
      (request.cookies[options.session.cookieName] ?? "") === ""
    return Effect.map(manifest, ({ entry, first = [], preload = [] }) => {
      const nonce = randomBytes(16).toString("base64")
      const [own = ""] = url.split("?", 1)
      return HttpServerResponse.text(
        html({
          ...options,
          entry,
          preload: isStranger ? first : preload,
          isStranger,
          nonce,
          isBelow: own.endsWith("/"),
          last: lastOf(own)
        }),
        {
          contentType: "text/html; charset=utf-8",
          headers: {
            "cache-control": "no-store",
            "content-security-policy": policyWith(nonce),
            "cross-origin-opener-policy": "same-origin",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff"
          }
        }
      )
    })
  })

/** A file of the page, which browsers keep for a year. */
export const assetOfPage: ResponseEffect = Effect.withFiber(({ context }) => {
  const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
  const { params } = Context.getUnsafe(context, HttpRouter.RouteContext)
  return Effect.flatMap(fileNamed(`assets/${params["file"] ?? ""}`), (file) =>
    file === undefined
      ? Effect.fail(errorOf("NotFound", "errors.Route", { path: request.url }))
      : Effect.succeed(file.respond(request)))
})

// internal

/** Whether the browser has sent the cookies that it has: it sends none of `SameSite=Strict` to who follows a link of another site. */
const sendsCookies = (request: HttpServerRequest.HttpServerRequest): boolean =>
  ["none", "same-origin", "same-site"].includes(headersOf(request)["sec-fetch-site"] ?? "")

/** What the page is built of: a file that it begins with, those that it needs first and next, and all. */
interface Manifest {
  readonly entry: string
  /** A page that another version has built may not have them. */
  readonly first?: ReadonlyArray<string>
  readonly preload?: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
}

const folder = (): string => dirname(fileURLToPath(import.meta.resolve("#explorer")))

const manifest: Effect.Effect<Manifest> = Effect.map(
  Effect.promise(() => readFile(join(folder(), "manifest.json"), "utf8")),
  // It is written when the page is built.
  (text) => JSON.parse(text) as Manifest
)

const year = 31_536_000

const files = new Map<string, File.File>()

const types: { readonly [end: string]: string } = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml"
}

/** A file of the manifest; no other name is looked for. */
const fileNamed = Effect.fnUntraced(function*(name: string) {
  const known = files.get(name)
  if (known !== undefined) return known
  const { files: names } = yield* manifest
  const contentType = types[name.slice(name.lastIndexOf(".") + 1)]
  if (contentType === undefined || !names.includes(name)) return undefined
  const text = yield* Effect.promise(() => readFile(join(folder(), name), "utf8"))
  const small = `${name}.br`
  const brotli = names.includes(small) ? yield* Effect.promise(() => readFile(join(folder(), small))) : undefined
  const file = yield* File.make(text, { contentType, maxAge: year, brotli })
  files.set(name, file)
  return file
})

/** Scripts come from the service itself, and styles from its page. Nothing is asked of other origins, and no page frames it. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** What is seen until the program shows something: the mark and the title. */
const shell = "body{margin:0}.shell{min-height:100vh;display:grid;place-content:center;justify-items:center;" +
  "font:600 1rem system-ui,sans-serif}.shell svg{width:40px}"

const lastOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const html = (
  { depth, document, entry, isBelow, isStranger, last, nonce, preload, session, title, tokens }: PageOptions & {
    readonly entry: string
    readonly preload: ReadonlyArray<string>
    readonly nonce: string
    /** Whether nobody can be signed in. */
    readonly isStranger: boolean
    /** Whether the address ends with a slash, so that the page is a level below. */
    readonly isBelow: boolean
    /** The last segment of the address. */
    readonly last: string
  }
): string => {
  const up = depth - (isBelow ? 0 : 1)
  const folder = isBelow ? "" : `${escaped(last)}/`
  const settings = JSON.stringify({
    url: up === 0 ? "." : Array(up).fill("..").join("/"),
    document,
    session: session?.path,
    tokens,
    isStranger
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta property="csp-nonce" nonce="${nonce}">
<meta name="appkernel-explorer" content="${escaped(settings)}">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<script type="module" src="${folder}${entry}"></script>
${preload.map((file) => `<link rel="modulepreload" href="${folder}${file}">`).join("\n")}
<style nonce="${nonce}">${shell}</style>
</head>
<body>
<div id="root"><div class="shell"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#3d4fd6"/><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"><path d="M8 11.5h16M8 16.5h10M8 21.5h6"/><circle cx="21.5" cy="20" r="3.2"/><path d="m24 22.6 2 2"/></g></svg><p>${
    escaped(title)
  }</p></div></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;")
