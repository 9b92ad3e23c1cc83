/**
 * The configuration of a service: `cfg.yml`, overridden by the environment.
 *
 * **Details**
 *
 * The file is YAML 1.2 with the keys under `appkernel`. Each key has an environment variable, named by its path in
 * capitals: `appkernel.server.port` is `APPKERNEL_SERVER_PORT`. A variable that is set and not empty takes precedence. A
 * variable with `_FILE` at its end names a file with the value, for secrets: `APPKERNEL_MONGO_HOST_FILE`.
 *
 * The reference lists every key with its meaning, its default and its variable.
 *
 * A time is a number of seconds or a text such as `30 seconds` or `500 millis`. A size is a number of bytes or a text
 * such as `10 MB` or `10 MiB`. Relative paths are resolved against the working directory.
 *
 * Other top-level keys belong to the program: `Config.String("currency").pipe(Config.nested("shop"))` reads
 * `shop.currency` of the file, or `SHOP_CURRENCY`.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as nodePath from "node:path"
import process from "node:process"
import { problemsOf } from "../Model/internal.ts"
import { Lifetimes } from "../Security/SignIns.ts"
import type { InForce } from "./config/inForce.ts"
import { Limits, limits } from "./config/limits.ts"
import { withSecretFiles } from "./config/secretFiles.ts"
import { lifetimes } from "./config/serviceOptions.ts"

export type { InForce } from "./config/inForce.ts"

/**
 * Where to load the configuration from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The folder of `cfg.yml`. Defaults to the folder of the start script or, if there is no such file, the working directory.
   * A relative path is resolved against the working directory.
   */
  readonly cfgDir?: string | undefined
  /**
   * Whether the service may start without a file, on defaults and the environment. Defaults to true, with a warning where
   * neither the environment nor the program has a key; an explicit true is none.
   */
  readonly enableDefaults?: boolean | undefined
  /**
   * Whether the service runs for development, where a missing file is no warning either. Defaults to whether `NODE_ENV` is
   * `development` or `test`.
   */
  readonly development?: boolean | undefined
}

export * from "./config/limits.ts"
export * from "./config/serviceOptions.ts"

/**
 * Occurs when the configuration can't be used: a required file is missing, the file is no valid YAML, or values are
 * wrong. `problems` has a sentence for each problem, none of which quotes a value. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConfigurationInvalid extends Schema.TaggedError<ConfigurationInvalid>()("ConfigurationInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The configuration is wrong: ${this.problems.join("; ")}`
  }
}

/**
 * A loaded and validated configuration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Loaded {
  /** The provider of all `Config`, the {@link Limits} and the lifetimes of tokens. */
  readonly context: Context.Context<never>
  /** The folder of the file: where it is or, if there is none, where it is looked for first. */
  readonly cfgDir: string
  /** Logs which file was read, or that there is none, and a warning for each unknown key. */
  readonly log: Effect.Effect<void>
  /** All keys with their values, and where these come from. Secrets are masked. */
  readonly inForce: ReadonlyArray<InForce>
}

/**
 * The provider of the keys in an environment and a file, with the {@link Limits} and the lifetimes of tokens that these say.
 *
 * @internal
 */
export const configured: (
  environment: ConfigProvider.ConfigProvider,
  content: unknown
) => Effect.Effect<Context.Context<never>, Config.ConfigError> = Effect.fnUntraced(function*(environment, content) {
  const { layered } = yield* Effect.promise(() => import("./config/fileAndEnvironment.ts"))
  const provider = layered(environment, content)
  return Context.make(ConfigProvider.ConfigProvider, provider).pipe(
    Context.add(Limits, yield* limits(yield* Limits).parse(provider)),
    Context.add(Lifetimes, yield* lifetimes(yield* Lifetimes).parse(provider))
  )
})

/**
 * Loads the file once, and validates all its keys and those of the environment, which the current `ConfigProvider`
 * provides. By default that is the process's environment.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load: (
  options?: Options
) => Effect.Effect<Loaded, ConfigurationInvalid | Config.ConfigError, FileSystem.FileSystem> = Effect.fnUntraced(
  function*(options?: Options) {
    const plain = yield* ConfigProvider.ConfigProvider
    const environment = withSecretFiles(plain, yield* FileSystem.FileSystem)
    const configFile = yield* Effect.promise(() => import("./config/fileAndEnvironment.ts"))
    const folders = options?.cfgDir === undefined ? [...new Set([folderOfStartScript(), "."])] : [options.cfgDir]
    let [cfgDir = "."] = folders
    let text: string | undefined
    for (const folder of folders) {
      const file = nodePath.join(folder, "cfg.yml")
      text = yield* Effect.mapError(configFile.readFileText(file), (detail) => invalid(`${file}: ${detail}`))
      if (text === undefined) continue
      cfgDir = folder
      break
    }
    const file = nodePath.join(cfgDir, "cfg.yml")
    if (text === undefined && options?.enableDefaults === false) return yield* invalid(`there is no file ${file}`)
    // The parser of YAML is loaded by programs that have a file, and by no others.
    const content: Result.Result<unknown, string> = text === undefined
      ? Result.succeed(undefined)
      : (yield* Effect.promise(() => import("./config/yaml.ts"))).parseYaml(text)
    if (Result.isFailure(content)) return yield* invalid(`${file}, ${content.failure}`)
    const { problems, warnings } = yield* asConfigError(configFile.checkKeys(environment, content.success, file))
    if (problems.length > 0) return yield* invalid(...problems)
    const { inForce } = yield* Effect.promise(() => import("./config/inForce.ts"))
    const context = Context.add(yield* configured(environment, content.success), IsLoaded, true)
    const nodeEnvironment = (yield* asConfigError(environment.load(["NODE_ENV"])))?.value
    const isDevelopment = options?.development ?? ["development", "test"].includes(nodeEnvironment ?? "")
    const keys = yield* asConfigError(
      inForce({ environment: plain, given: environment, content: content.success, file })
    )
    const isConfigured = options?.enableDefaults === true || keys.some(({ source }) => source !== "default")
    // An explicit folder implies that a file is expected there.
    const isExpected = options?.cfgDir !== undefined || !(isDevelopment || isConfigured)
    const logAbsence = isExpected ? Effect.logWarning : Effect.logInfo
    const places = [...new Set(folders.map((folder) => nodePath.resolve(folder, "cfg.yml")))]
    const notice = text === undefined
      ? logAbsence(`There is no configuration file ${places.join(" or ")}: only the environment is read`)
      : Effect.logInfo(`The configuration is read from ${nodePath.resolve(file)}`)
    const loaded: Loaded = {
      context,
      inForce: keys,
      cfgDir,
      log: Effect.andThen(notice, Effect.forEach(warnings, (warning) => Effect.logWarning(warning), { discard: true }))
    }
    return loaded
  }
)

/**
 * {@link load} as a layer: it provides all `Config` and the {@link Limits} to everything it is provided to, including
 * stores. It logs which file was read, and a warning for each unknown key. `engine.launch` includes it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options?: Options
): Layer.Layer<never, ConfigurationInvalid | Config.ConfigError, FileSystem.FileSystem> =>
  Layer.effectContext(Effect.flatMap(load(options), ({ context, log }) => Effect.as(log, context)))

/**
 * Lets an effect that reads keys of the program fail with sentences that name them as the file and the environment write them.
 *
 * @internal
 */
export const explained = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Config.ConfigError> | ConfigurationInvalid, R> =>
  Effect.catch(
    effect,
    (error): Effect.Effect<never, Exclude<E, Config.ConfigError> | ConfigurationInvalid> =>
      error instanceof Config.ConfigError
        ? explain(error)
        // The compiler does not narrow a type parameter.
        : Effect.fail(error as Exclude<E, Config.ConfigError>)
  )

/** Whether the current provider, of the environment or the program, has a key. @internal */
export const hasKeys: Effect.Effect<boolean, Config.ConfigError> = Effect.gen(function*() {
  const provider = yield* ConfigProvider.ConfigProvider
  const { inForce } = yield* Effect.promise(() => import("./config/inForce.ts"))
  const keys = yield* asConfigError(inForce({ environment: provider, given: provider, content: undefined, file: "" }))
  return keys.some(({ source }) => source !== "default")
})

/** Whether a configuration is loaded. @internal */
export const IsLoaded: Context.Reference<boolean> = Context.Reference<boolean>("appkernel/Http/KernelConfig/IsLoaded", {
  defaultValue: () => false
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const asConfigError = <A, R>(
  effect: Effect.Effect<A, ConfigProvider.SourceError, R>
): Effect.Effect<A, Config.ConfigError, R> => Effect.mapError(effect, (error) => new Config.ConfigError(error))

const invalid = (...problems: ReadonlyArray<string>) => new ConfigurationInvalid({ problems })

const explain = Effect.fnUntraced(function*({ cause }: Config.ConfigError) {
  if (!Schema.isSchemaError(cause)) return yield* invalid(cause.message)
  const provider = yield* ConfigProvider.ConfigProvider
  const found = cause.issue._tag === "Pointer"
    ? yield* Effect.orElseSucceed(provider.load(cause.issue.path.map(partOf)), () => undefined)
    : undefined
  return yield* invalid(
    ...problemsOf(cause.issue).map(({ field, message, validator }) => {
      const variable = field.replaceAll(".", "_").toUpperCase()
      const key = variable === field ? field : `${field} (${variable})`
      if (validator === "Required") return `${key} is missing`
      return found === undefined ? `${key} is missing: it ${message}` : `${key} ${message}`
    })
  )
})

const partOf = (key: PropertyKey): string | number => typeof key === "number" ? key : String(key)

const folderOfStartScript = (): string => {
  const script = process.argv[1]
  return script === undefined ? "." : nodePath.dirname(script)
}
