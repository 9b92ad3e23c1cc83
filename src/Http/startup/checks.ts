/** The checks of registrations, routes and access rules before a service starts. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Option from "effect/Option"
import { DeclarationError } from "../../internal/declarationError.ts"
import { Keys } from "../../Security/Keys.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import { explorerProblem } from "../explorer/options.ts"
import { mcpProblem } from "../mcp/options.ts"
import { implemented } from "../routes/implemented.ts"
import { type EngineParts, policyOf } from "./engineParts.ts"
import { enabled, monitoredPaths } from "./monitored.ts"
import { RegistrationInvalid, rejectInvalid, rejectUnknownRoles } from "./registrationInvalid.ts"
import { rejectConflicts } from "./routeConflict.ts"

/** Fails for mistakes in registrations and conflicting routes; warns of rules that admit nobody. */
export const checkRegistrations = Effect.fnUntraced(function*(parts: EngineParts) {
  const { api: { registrations }, explorer, implementations, mcp, openApi, options } = parts
  yield* rejectInvalid(registrations, implementations, options.roles)
  yield* rejectUnknownRoles(parts)
  const problem = (mcp && mcpProblem(mcp)) ?? (explorer && explorerProblem(explorer))
  if (problem !== undefined) {
    return yield* new RegistrationInvalid({ registration: parts.api.id, detail: problem })
  }
  const unreachable = AccessPolicy.unreachable(policyOf(parts))
  if (unreachable.length > 0) {
    yield* Effect.logWarning(`Nobody may call ${unreachable.join(", ")}: no rule admits anybody`)
  }
  const open = openRegistrations(parts)
  if (open.length > 0) {
    yield* Effect.logWarning(
      `Everybody may call all of ${open.join(", ")}, whatever the rules say: the engine has no enableSecurity()`
    )
  }
  const unruled = unruledModels(parts)
  if (unruled.length > 0) {
    yield* Effect.logWarning(
      `Handlers may not read or write ${unruled.join(", ")} for callers, for want of a rule: ` +
        "grant it to somebody, or use Repository.unrestricted"
    )
  }
  const hasKeys = Option.isSome(yield* Effect.serviceOption(Keys))
  yield* rejectConflicts({ registrations, openApi, mcp, explorer, hasKeys, monitored: monitoredPaths(yield* enabled) })
})

/** Fails while another engine serves on the same server, which would answer none of this one's requests. */
export const serveAlone = Effect.flatMap(HttpServer.HttpServer, (server) =>
  Effect.acquireRelease(
    Effect.suspend(() =>
      served.has(server)
        ? Effect.die(
          new DeclarationError(
            "Two engines serve on one HTTP server: register everything with one, or give each a server of its own"
          )
        )
        : Effect.sync(() => served.add(server))
    ),
    () => Effect.sync(() => served.delete(server))
  ))

const served = new WeakSet<HttpServer.HttpServer["Service"]>()

/** The names of registrations whose rules nothing enforces. */
const openRegistrations = ({ api: { guards, registrations }, implementations }: EngineParts): ReadonlyArray<string> =>
  guards.has("security") ? [] : registrations.flatMap((registration) => {
    const { grants, restrictions } = implemented(registration, implementations).rules
    return grants.length + restrictions.length === 0 ? [] : [registration.name]
  })

/** The models without endpoints and without a rule, whose repositories have the rights of the caller in handlers. */
const unruledModels = ({ api: { guards, registrations }, implementations }: EngineParts): ReadonlyArray<string> =>
  !guards.has("security") ? [] : registrations.flatMap((registration) => {
    const { calls, rules } = implemented(registration, implementations)
    return registration._tag === "Resource" && rules.grants.length === 0 &&
        registration.methods.length + calls.length === 0
      ? [registration.model.modelName]
      : []
  })
