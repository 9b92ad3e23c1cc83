/** The engine of a project and its store, which commands work on. */
import * as Argument from "effect/cli/Argument"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import * as AccessPolicy from "../../Http/AccessPolicy.ts"
import * as KernelConfig from "../../Http/KernelConfig.ts"
import type * as OpenApi from "../../Http/OpenApi.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { ownerOf } from "../../Repository/internal.ts"
import type { Migration } from "../../Repository/Migration.ts"
import { StoreUnavailable } from "../../Repository/RepositoryError.ts"
import { CommandFailed } from "./output.ts"

/** The argument with the module that exports the engine. */
export const engineModule = Argument.String("module").pipe(
  Argument.withDescription("The module that exports the engine, as engine or by default. Defaults to src/engine.ts"),
  Argument.withDefault("src/engine.ts")
)

/** What commands use of an engine. */
export interface Engine {
  readonly api: { readonly identifier: string }
  readonly policy: AccessPolicy.AccessPolicy
  readonly registrations: OpenApi.Source["registrations"]
  readonly migrations: ReadonlyArray<Migration>
  readonly "~appkernel/Stages": Effect.Effect<Stages, { readonly _tag: string; readonly message: string }>
  readonly mcp: { readonly path: `/${string}` } | undefined
  readonly layerServe: Layer.Layer<
    never,
    { readonly _tag: string; readonly message: string },
    DocumentStore | HttpServer.HttpServer
  >
  readonly document: Effect.Effect<OpenApi.Document | undefined, { readonly _tag: string; readonly message: string }>
}

/** What requests to a service meet, outermost first. */
export interface Stages {
  readonly service: ReadonlyArray<Stage>
  /** The stages of all routes, in their order. */
  readonly route: ReadonlyArray<Stage>
  readonly routes: ReadonlyArray<{ readonly route: string; readonly stages: ReadonlyArray<string> }>
}

interface Stage {
  readonly name: string
  /** What it does, in a sentence. */
  readonly does: string
  /** What turns it on. */
  readonly when: string
}

/** The models that are registered, each once and in its newest form. */
export const modelsOf = ({ registrations }: Engine): ReadonlyArray<Model.Any> => [
  ...new Set(registrations.flatMap((one) => one._tag === "Resource" ? [ownerOf(one.model)] : []))
]

/** Loads the module, and the engine from it. */
export const loadEngine = Effect.fnUntraced(function*(module: string) {
  const loaded = yield* load(module)
  const found = ["engine", "default"].flatMap((name) => {
    const value = exported(loaded, name)
    return isEngine(value) ? [value] : []
  })[0]
  return found ?? (yield* new CommandFailed({
    detail: `${module} exports no engine: export const engine = KernelEngine.make(…)`
  }))
})

/** What a module, or the file of this name beside it, exports by a name. */
export const findBeside = Effect.fnUntraced(function*<A>(
  module: string,
  name: string,
  isOne: (value: unknown) => value is A
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const beside = path.join(path.dirname(module), `${name}${path.extname(module)}`)
  const own = exported(yield* load(module), name)
  if (isOne(own)) return { beside, found: own }
  const other = (yield* files.exists(beside)) ? exported(yield* load(beside), name) : undefined
  return { beside, found: isOne(other) ? other : undefined }
})

/** {@link findBeside}, which fails if there is none. */
export const loadBeside = Effect.fnUntraced(function*<A>(
  module: string,
  { example, isOne, name }: {
    readonly name: string
    readonly isOne: (value: unknown) => value is A
    readonly example: string
  }
) {
  const { beside, found } = yield* findBeside(module, name, isOne)
  return found ?? (yield* new CommandFailed({
    detail: `Neither ${module} nor ${beside} exports ${name}: ${example}`
  }))
})

/** Runs an effect with the configuration of the project, `cfg.yml` and the environment. */
export const withConfig = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    KernelConfig.load(),
    ({ context }) => Effect.provideContext(KernelConfig.explained(effect), context)
  )

/** The policy of the module's engine, with the configuration of the project. */
export const loadPolicy = (module: string) =>
  Effect.flatMap(loadEngine(module), ({ policy }) =>
    withConfig(
      Effect.map(KernelConfig.Limits, ({ onKnownId }) => AccessPolicy.configured(policy, onKnownId))
    ))

/**
 * Loads the engine, and runs a function on it with the store and the configuration of the project. Of a folder that a service
 * has open, a command that writes fails, and `inUse` says what to do instead; without it, the command reads a copy of what
 * the folder has now.
 */
export const withStore = <A, E>(
  module: string,
  { inUse }: { readonly inUse: string | undefined },
  use: (engine: Engine) => Effect.Effect<A, E, DocumentStore>
) =>
  Effect.catchIf(inStore(module, use), isInUse, ({ detail }) =>
    Effect.scoped(Effect.gen(function*() {
      if (inUse !== undefined) return yield* new CommandFailed({ detail: `The ${detail}. ${inUse}` })
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { path: folder } = yield* withConfig(Effect.suspend(() => EmbeddedStore.config))
      const to = path.join(yield* files.makeTempDirectoryScoped({ directory: path.dirname(folder) }), "copy")
      yield* Console.error(`${folder} is in use: reading a copy of what it has now`)
      yield* EmbeddedStore.backupDocuments({ path: folder, to })
      return yield* inStore(module, use, to)
    })))

// internal

const inStore = Effect.fnUntraced(function*<A, E>(
  module: string,
  use: (engine: Engine) => Effect.Effect<A, E, DocumentStore>,
  folder?: string
) {
  const engine = yield* loadEngine(module)
  const store = yield* loadBeside(module, {
    name: "store",
    isOne: isStore,
    example: "export const store = EmbeddedStore.layer"
  })
  const used = Effect.provide(use(engine), store)
  return yield* withConfig(folder === undefined ? used : inFolder(folder, used))
})

const isInUse = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && error.operation === "open" && error.detail.includes(" is in use by ")

/** Runs an effect whose embedded store is in the folder. */
const inFolder = <A, E, R>(folder: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (configured) =>
    Effect.provideService(
      effect,
      ConfigProvider.ConfigProvider,
      ConfigProvider.orElse(ConfigProvider.fromEnv({ env: { APPKERNEL_EMBEDDED_PATH: folder } }), configured)
    ))

const load = Effect.fnUntraced(function*(module: string) {
  const path = yield* Path.Path
  const url = yield* path.toFileUrl(path.resolve(module))
  return yield* Effect.tryPromise({
    try: (): Promise<unknown> => import(url.href),
    catch: (cause) =>
      new CommandFailed({
        detail: `${module} can't be loaded: ${Predicate.isError(cause) ? cause.message : String(cause)}`
      })
  })
})

const exported = (loaded: unknown, name: string): unknown =>
  Predicate.hasProperty(loaded, name) ? loaded[name] : undefined

const isEngine = (value: unknown): value is Engine =>
  Predicate.hasProperty(value, "policy") && Predicate.hasProperty(value, "api") && Predicate.hasProperty(value, "layer")

/** Tests the kind of the export only: a value at run time does not show the types of a layer. */
const isStore = (value: unknown): value is Layer.Layer<DocumentStore, Error> => Layer.isLayer(value)
