/** `appkernel openapi`: writes the OpenAPI document of a service, for reviews. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Application } from "../../internal/application.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { engineModule, findBeside, loadEngine, withConfig } from "./engineModule.ts"
import { checkFlag, CommandFailed, outFlag, reported, writeOrCompare } from "./output.ts"

export const openapiCommand = Command.make(
  "openapi",
  { module: engineModule, out: outFlag, check: checkFlag },
  Effect.fnUntraced(function*({ check, module, out }) {
    const engine = yield* loadEngine(module)
    const { beside, found } = yield* findBeside(module, "credentials", isCredentials)
    const document = yield* withConfig(
      found === undefined
        ? Effect.mapError(
          engine.document,
          (error) =>
            error._tag !== "CredentialsUnprovided" ? error : new CommandFailed({
              detail: `Neither ${module} nor ${beside} exports credentials, by which callers prove who they are: ` +
                "export const credentials = Jwt.layer, or name the securitySchemes in enableOpenApi"
            })
        )
        // Neither keys nor documents are needed to say what they are.
        : engine.document.pipe(
          Effect.provide(Layer.provide(found, EmbeddedStore.layerMemory)),
          Effect.provideService(Application, {
            id: engine.api.identifier,
            cfgDir: ".",
            development: undefined,
            isTest: true
          })
        )
    )
    if (document === undefined) {
      return yield* new CommandFailed({ detail: `The engine of ${module} has no document: enableOpenApi(…)` })
    }
    yield* writeOrCompare(JSON.stringify(document, undefined, 2), { check, out })
  }, reported)
).pipe(Command.withDescription("Write the OpenAPI document that a service serves"))

// internal

/** Tests the kind of the export only: a value at run time does not show the types of a layer. */
const isCredentials = (value: unknown): value is Layer.Layer<never, Error, DocumentStore> => Layer.isLayer(value)
