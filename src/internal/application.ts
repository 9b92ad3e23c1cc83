/** The name, folder and mode of the application that an engine launches, for layers that are built for it. */
import * as Context from "effect/Context"

/** The application that layers are built for. */
export interface RunningApplication {
  /** The id of the engine. */
  readonly id: string
  /** The folder of `cfg.yml`. */
  readonly cfgDir: string
  /** Whether the application runs for development. If `undefined`, `NODE_ENV` decides. */
  readonly development: boolean | undefined
  /** Whether the application runs for a test: nothing that it makes outlives it. */
  readonly isTest: boolean
}

/** The application that `engine.launch` and `engine.test` build layers for; `undefined` in other programs. */
export const Application: Context.Reference<RunningApplication | undefined> = Context.Reference<
  RunningApplication | undefined
>("appkernel/internal/application", { defaultValue: () => undefined })
