/** `appkernel policy`: writes who may call what, for reviews. */
import * as Arr from "effect/Array"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as AccessPolicy from "../../Http/AccessPolicy.ts"
import { engineModule, loadPolicy } from "./engineModule.ts"
import { checkFlag, jsonFlag, outFlag, reported, writeOrCompare } from "./output.ts"

export const policyCommand = Command.make(
  "policy",
  { module: engineModule, out: outFlag, check: checkFlag, json: jsonFlag },
  Effect.fnUntraced(function*({ check, json, module, out }) {
    const policy = yield* loadPolicy(module)
    // The order of registrations is nothing to review.
    const entries = Arr.sortWith(policy.entries, keyOf, Order.String)
    const sorted = { ...policy, entries }
    yield* writeOrCompare(json ? JSON.stringify(sorted, undefined, 2) : AccessPolicy.toText(sorted), { check, out })
  }, reported)
).pipe(Command.withDescription("Write the endpoints of a service and who may call them, in the order of their paths"))

// internal

const keyOf = ({ endpoint }: AccessPolicy.Entry): string => endpoint.replace(/^(\S+) (.+)$/u, "$2 $1")
