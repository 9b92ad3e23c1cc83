/** `appkernel explore`: shows the documents of a running service, which need not have an explorer of its own. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as KernelEngine from "../../Http/KernelEngine.ts"
import * as KernelServer from "../../Http/KernelServer.ts"
import { Application } from "../../internal/application.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { CommandFailed, reported } from "./output.ts"

export const exploreCommand = Command.make(
  "explore",
  {
    service: Argument.String("url").pipe(
      Argument.withDescription("The address of the service, with its prefix if it has one")
    ),
    port: Flag.Int("port").pipe(
      Flag.withDescription("The port of this machine at which the explorer is. Defaults to a free one"),
      Flag.filter((given) => given >= 0 && given <= 65_535, () => "expected a port, up to 65535"),
      Flag.withDefault(0)
    )
  },
  Effect.fnUntraced(
    function*({ port, service }) {
      const base = service.replace(/\/$/u, "")
      const client = yield* HttpClient.HttpClient
      const found = yield* foundAt(client, base)
      const engine = KernelEngine.make("explore").enableExplorer({ path: pagePath, of: found }).use(
        forwarding(client, base)
      )
      const layer = engine.layerServe.pipe(
        Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port })),
        Layer.provide(EmbeddedStore.layerMemory)
      )
      const context = yield* Layer.build(layer)
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
      yield* Console.log(
        `The explorer of ${base} is at ${HttpServer.formatAddress(address)}${pagePath}. Ctrl-C ends it.`
      )
      return yield* Effect.never
    },
    Effect.scoped,
    Effect.provideService(Application, { id: "explore", cfgDir: ".", development: undefined, isTest: false }),
    Effect.provide(NodeHttpClient.layerUndici),
    reported
  )
).pipe(
  Command.withDescription("Show the documents of a running service in a browser, on this machine alone"),
  Command.withExamples([
    {
      command: "appkernel explore https://shop.example.com",
      description: "Show what the shop has, to whoever signs in"
    }
  ])
)

// internal

/** Where no service has anything, so that all else is the service's. */
const pagePath = "/appkernel-explorer"

/** Where the service describes itself: for the caller if it has an explorer, and otherwise for everybody. */
const foundAt = Effect.fnUntraced(function*(client: HttpClient.HttpClient, base: string) {
  const asked = (path: string) =>
    client.get(`${base}${path}`).pipe(
      Effect.mapError((error) => new CommandFailed({ detail: `${base} does not answer: ${error.message}` }))
    )
  const response = yield* asked("/openapi.json")
  const document = response.status === 200
    ? yield* Effect.option(Effect.flatMap(response.json, Schema.decodeUnknownEffect(Document)))
    : Option.none()
  // To whom nothing is described before they sign in, something is.
  const isClosed = response.status === 401 || response.status === 403
  if (Option.isNone(document) && !isClosed) {
    return yield* new CommandFailed({
      detail: `${base}/openapi.json answers ${response.status}, and says nothing of a service: enableOpenApi(…)`
    })
  }
  const { components, paths = {} } = Option.getOrElse(document, (): typeof Document.Type => ({ openapi: "" }))
  const tokenUrl = components?.securitySchemes?.signIn?.flows?.password?.tokenUrl
  // The address may be of another server: the endpoint is asked where the rest of the service is.
  const tokens = Object.keys(paths).filter((path) =>
    tokenUrl?.endsWith(path)
  ).toSorted((one, other) => other.length - one.length)[0]
  const own = yield* asked("/explorer/openapi.json")
  return { document: own.status === 404 ? "/openapi.json" : "/explorer/openapi.json", tokens }
})

/** What it says of how somebody signs in. */
const Document = Schema.Struct({
  openapi: Schema.String,
  paths: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  components: Schema.optionalKey(Schema.Struct({
    securitySchemes: Schema.optionalKey(Schema.Struct({
      signIn: Schema.optionalKey(Schema.Struct({
        flows: Schema.optionalKey(Schema.Struct({
          password: Schema.optionalKey(Schema.Struct({ tokenUrl: Schema.String }))
        }))
      }))
    }))
  }))
})

/** What is about one connection (RFC 9110, section 7.6.1), and what either side does by itself. */
const ownHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|accept-encoding|cookie|origin|referer|sec-.*)$/u

const withoutOwn = (headers: { readonly [name: string]: string | undefined }): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ownHeaders.test(name) ? [] : [[name, value] as const]
    )
  )

/** Whether a request is one of the page of this machine: other pages reach it by names that they let resolve to it. */
const isOwnPage = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const { host = "", "sec-fetch-site": site } = request.headers
  const { localPort } = NodeHttpServerRequest.toIncomingMessage(request).socket
  const port = localPort === 80 ? "" : `:${localPort}`
  return ["127.0.0.1", "localhost", "[::1]"].some((name) => host === `${name}${port}`) &&
    site !== "cross-site" && site !== "same-site"
}

/** Sends all other requests to the service, so that a page of this origin reads its answers. */
const forwarding = (client: HttpClient.HttpClient, base: string) =>
  HttpRouter.add(
    "*",
    "/*",
    Effect.fnUntraced(
      function*(request: HttpServerRequest.HttpServerRequest) {
        const { headers, method, url } = request
        if (!isOwnPage(request)) {
          return HttpServerResponse.jsonUnsafe(
            { _type: "ErrorMessage", code: 403, message: "The explorer is for its own page on this machine" },
            { status: 403 }
          )
        }
        const hasBody = method !== "GET" && method !== "HEAD" && method !== "DELETE"
        // The server routes methods of HTTP only.
        const sent = HttpClientRequest.make(method as HttpMethod.HttpMethod)(`${base}${url}`, {
          headers: { ...withoutOwn(headers), "accept-encoding": "identity" }
        })
        const answer = yield* client.execute(
          hasBody ? HttpClientRequest.setBody(sent, HttpBody.stream(request.stream, headers["content-type"])) : sent
        )
        return HttpServerResponse.stream(answer.stream, {
          status: answer.status,
          headers: withoutOwn(answer.headers),
          ...answer.headers["content-type"] === undefined ? {} : { contentType: answer.headers["content-type"] }
        })
      },
      Effect.catch((error) =>
        Effect.succeed(
          HttpServerResponse.jsonUnsafe({ _type: "ErrorMessage", code: 502, message: error.message }, { status: 502 })
        )
      )
    )
  )
