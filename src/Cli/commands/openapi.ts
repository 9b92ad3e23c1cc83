/**
 * `appkernel openapi`: writes the OpenAPI document of a service, for reviews.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KernelConfig from "../../Http/KernelConfig.ts"
import * as OpenApi from "../../Http/OpenApi.ts"
import { CommandFailed, reported } from "./commandFailed.ts"
import { engineModule, loadEngine, withConfig } from "./engineModule.ts"
import { checkFlag, outFlag, writeDocument } from "./output.ts"

/** @internal */
export const openapi = Command.make(
  "openapi",
  { module: engineModule, out: outFlag, check: checkFlag },
  Effect.fnUntraced(function*({ check, module, out }) {
    const engine = yield* loadEngine(module)
    if (engine.openApi === undefined) {
      return yield* new CommandFailed({ detail: `The engine of ${module} has no document: enableOpenApi(…)` })
    }
    const limits = yield* withConfig(KernelConfig.Limits)
    const document = OpenApi.make(engine, { limits, ...engine.openApi })
    yield* writeDocument(JSON.stringify(document, undefined, 2), { check, out })
  }, reported)
).pipe(Command.withDescription("Write the OpenAPI document of a service"))
