/** `appkernel routes`: prints the endpoints of a service and who may call them. */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as AccessPolicy from "../../Http/AccessPolicy.ts"
import { reported } from "./commandFailed.ts"
import { engineModule, loadPolicy } from "./engineModule.ts"
import { jsonFlag } from "./output.ts"

export const routes = Command.make(
  "routes",
  {
    module: engineModule,
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ json, module }) {
    const policy = yield* loadPolicy(module)
    yield* Console.log(json ? JSON.stringify(policy, undefined, 2) : AccessPolicy.toText(policy))
  }, reported)
).pipe(Command.withDescription("Print the endpoints of a service, and who may call them"))
