import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiSwagger from "effect/http-api/HttpApiSwagger"
import * as HttpRouter from "effect/http/HttpRouter"
import { readFile } from "node:fs/promises"

/**
 * The script and styles of Swagger UI. The platform ships them within a page for its own document.
 *
 * @internal
 */
export const swaggerUi: Effect.Effect<{ readonly script: string; readonly styles: string }> = Effect.map(
  Effect.acquireUseRelease(
    Effect.sync(() => HttpRouter.toWebHandler(HttpApiSwagger.layer(HttpApi.make("none")), { disableLogger: true })),
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

/**
 * The script of ReDoc without the external resources that it would load: a logo and a source map.
 *
 * @internal
 */
export const redoc: Effect.Effect<string> = Effect.map(
  Effect.promise(() => readFile(new URL(import.meta.resolve("#redoc")), "utf8")),
  (script) =>
    script.replaceAll(/https:\/\/cdn\.redoc\.ly\/[\w./-]+/gu, emptyImage).replace(
      /\n\/\/# sourceMappingURL=\S+\s*$/u,
      ""
    )
)

const emptyImage = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
