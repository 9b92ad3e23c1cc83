/** The stages that requests to a service meet, by its configuration. The service does not run for that. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { type StageRow, stagesOn } from "../../internal/stages.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import * as Authentication from "../../Security/Authentication.ts"
import * as KernelConfig from "../KernelConfig.ts"
import * as KernelLogger from "../server/kernelLogger.ts"
import { compose } from "./composition.ts"
import { type EngineParts, servicePartsOf } from "./engineParts.ts"
import { routeStages, serviceStages } from "./stages.ts"

type Described = Omit<StageRow, "before">

/** The stages that are on, outermost first. */
export interface StagesInForce {
  /** What every request meets. */
  readonly service: ReadonlyArray<Described>
  /** What it then meets in one of the routes. */
  readonly route: ReadonlyArray<Described>
  /** The names of these for each route: `GET /api/v1/users/:id`. */
  readonly routes: ReadonlyArray<{ readonly route: string; readonly stages: ReadonlyArray<string> }>
}

/** What the engine would serve as `launch` runs it. */
export const stagesInForce = (parts: EngineParts) =>
  Effect.scoped(
    Effect.gen(function*() {
      const { surroundings } = yield* compose(servicePartsOf(parts))
      const routes = surroundings.routes.flatMap((route) => {
        const stages = stagesOn(routeStages, { route, service: surroundings }).map(({ name }) => name)
        return [route, ...route.asked ?? []].map(({ method, path }) => ({ route: `${method} ${path}`, stages }))
      })
      const inForce: StagesInForce = {
        service: stagesOn(serviceStages, surroundings).map(described),
        route: routeStages.filter(({ name }) => routes.some(({ stages }) => stages.includes(name))).map(described),
        routes
      }
      return inForce
    })
  ).pipe(
    Effect.provide([EmbeddedStore.layerMemory, Authentication.layer(anyScheme), tracing]),
    Effect.provideService(KernelLogger.AccessLogger, { write: () => {} }),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

// internal

const described = ({ does, name, when }: Described): Described => ({ name, does, when })

/** In the place of the schemes that a program provides to its engine. */
const anyScheme = Authentication.make({
  id: "any",
  header: "authorization",
  challenge: { scheme: "Any" },
  verify: () => Effect.die(new Error("Nobody calls"))
})

/** A tracer in the place of the one that `launch` provides. */
const tracing = Layer.unwrap(
  Effect.map(KernelConfig.telemetry, ({ endpoint, signals }) =>
    endpoint === undefined || !signals.includes("traces")
      ? Layer.empty
      : Layer.succeed(Tracer.Tracer, { ...Tracer.nativeTracer }))
)
