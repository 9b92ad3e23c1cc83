/** `appkernel routes`: prints the endpoints of a service and who may call them, or what requests meet on their way. */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as AccessPolicy from "../../Http/AccessPolicy.ts"
import { engineModule, loadEngine, loadPolicy, type Stages, withConfig } from "./engineModule.ts"
import { jsonFlag, print, reported, switchFlag } from "./output.ts"

export const routesCommand = Command.make(
  "routes",
  {
    module: engineModule,
    stages: switchFlag("stages", "Prints what a request meets, in this order, with the configuration of the project"),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ json, module, stages }) {
    if (stages) {
      const engine = yield* loadEngine(module)
      const inForce = yield* withConfig(engine["~appkernel/Stages"])
      return yield* print(json, inForce, linesOf(inForce))
    }
    const policy = yield* loadPolicy(module)
    yield* Console.log(json ? JSON.stringify(policy, undefined, 2) : AccessPolicy.toText(policy))
  }, reported)
).pipe(Command.withDescription("Print the endpoints of a service, and who may call them or what requests meet"))

// internal

/** The stages of the service, the routes by the stages that they have, and what these do. */
const linesOf = ({ route, routes, service }: Stages): ReadonlyArray<string> => {
  const width = Math.max(...[...service, ...route].map(({ name }) => name.length))
  const said = (stages: Stages["service"]) =>
    stages.map(({ does, name }) => `  ${name.padEnd(width)}  ${does.replaceAll("`", "")}`)
  const groups = Array.from(Map.groupBy(routes, ({ stages }) => stages.join(" > ")), ([stages, own]) => {
    const methods = Map.groupBy(own.map(({ route }) => route.split(" ")), ([, path]) => path)
    const paths = Array.from(methods, ([path, all]) => `${all.map(([method]) => method).join(", ")} ${path}`)
    return ["", ...paths, `  > ${stages} > its handler`]
  })
  return [
    "Every request meets, in this order:",
    ...said(service),
    "",
    "Then it meets, in its route, those of these that the route has:",
    ...said(route),
    ...groups.flat()
  ]
}
