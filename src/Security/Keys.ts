/**
 * The pair of keys that a service signs and verifies tokens with.
 *
 * **Details**
 *
 * The private key is looked for in this order. The first that is there counts.
 *
 * | Place | |
 * |---|---|
 * | `APPKERNEL_PRIVATE_KEY_PATH` | a file |
 * | `security.private_key_path` of the configuration, `APPKERNEL_SECURITY_PRIVATE_KEY_PATH` | a file |
 * | `<cfgDir>/keys/private.pem` | |
 * | `<dataDir>/keys/private.pem` | in development only; the pair is made there if it is missing |
 *
 * The public key follows from the private one. A service that only verifies needs the public key alone:
 * `APPKERNEL_PUBLIC_KEY_PATH`, `security.public_key_path`, or `<cfgDir>/keys/public.pem`. If both are configured they must
 * be a pair.
 *
 * The files are PEM: a private key in PKCS #8 without a passphrase, a public key in SPKI, as `openssl genpkey` and `openssl
 * pkey -pubout` write them. The key determines the algorithm: RSA of 2,048 bits or more is RS256, P-256 is ES256,
 * Ed25519 is EdDSA.
 *
 * Development is where `NODE_ENV` is `development` or `test`, or where the program says so: `KernelEngine.make("shop", {
 * development: true })`. `engine.test` has a pair in memory, whatever is configured.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import type * as jose from "jose"
import { Application } from "../internal/application.ts"
import { configOr, defaultOf } from "../internal/configurationKeys.ts"
import { onReload } from "../internal/reload.ts"
import type * as keyPair from "./keys/keyPair.ts"
import { writePair } from "./keys/pairFiles.ts"
import { KeysInvalid } from "./SecurityError.ts"

/**
 * The algorithms of signatures, by their names in RFC 7518 and RFC 8037.
 *
 * @category models
 * @since 0.1.0
 */
export type Algorithm = keyPair.Algorithm

/**
 * Where to find the keys.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The folder of `cfg.yml`, which may have a folder `keys`. Defaults to that of the engine, or to the working directory.
   */
  readonly cfgDir?: string | undefined
  /**
   * The folder in which a pair is made if there is none. Defaults to `embedded.path` of the configuration, or `./data`.
   */
  readonly dataDir?: string | undefined
  /**
   * Whether a pair is made if none is configured. Defaults to the option `development` of the engine, or to whether
   * `NODE_ENV` is `development` or `test`: where none of them is set, keys must be configured.
   */
  readonly development?: boolean | undefined
  /** The algorithm of a pair that is made. Defaults to `RS256`. */
  readonly algorithm?: Algorithm | undefined
}

/**
 * The keys of this service.
 *
 * @category services
 * @since 0.1.0
 */
export class Keys extends Context.Service<Keys, {
  /** The algorithm of both keys. */
  readonly algorithm: Algorithm
  /** The `kid` of tokens signed with these keys: the thumbprint of the public key by RFC 7638. */
  readonly id: string
  /** Verifies signatures. */
  readonly publicKey: jose.CryptoKey
  /** Signs. It can't be exported. `undefined` in a service that only verifies. */
  readonly privateKey: Redacted.Redacted<jose.CryptoKey> | undefined
  /** The public key as a JSON web key set (RFC 7517), for services that verify this service's tokens. */
  readonly jwks: { readonly keys: ReadonlyArray<jose.JWK> }
  /** The public keys of earlier pairs: until the process ends, tokens that they have signed count. */
  readonly earlier?: ReadonlyArray<{ readonly algorithm: Algorithm; readonly id: string; readonly key: jose.CryptoKey }>
}>()("appkernel/Security/Keys") {}

/**
 * Reads the keys, or in development makes a pair and logs where. Fails with {@link KeysInvalid} if a file can't be used,
 * or if there is no key outside development.
 *
 * The file of a private key that is made can be read by its owner only (mode 0600). Processes that start at the same time
 * use the same pair.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options?: Options
) => Effect.Effect<
  Keys["Service"],
  KeysInvalid | Config.ConfigError,
  FileSystem.FileSystem | Path.Path
> = Effect.fn("Keys.make")(function*(options?: Options) {
  const application = yield* Application
  if (application?.isTest === true && options === undefined) return yield* pairInMemory
  let current = yield* found(options)
  yield* onReload(
    keyPaths,
    Effect.map(
      found(options),
      (next) =>
        next.id === current.id && (next.privateKey === undefined) === (current.privateKey === undefined)
          ? { apply: Effect.void }
          : {
            changed: { keys: { from: current.id, to: next.id } },
            apply: Effect.sync(() => {
              current = succeeding(next, current)
            })
          }
    )
  )
  const keys: Keys["Service"] = {
    get algorithm() {
      return current.algorithm
    },
    get id() {
      return current.id
    },
    get publicKey() {
      return current.publicKey
    },
    get privateKey() {
      return current.privateKey
    },
    get jwks() {
      return current.jwks
    },
    get earlier() {
      return current.earlier ?? []
    }
  }
  return keys
})

const keyPaths = ["security.private_key_path", "security.public_key_path"]

/** A pair that takes the place of another one. */
const succeeding = (next: Keys["Service"], before: Keys["Service"]): Keys["Service"] => {
  const earlier = [
    { algorithm: before.algorithm, id: before.id, key: before.publicKey },
    ...before.earlier ?? []
  ].filter(({ id }) => id !== next.id)
  const jwks = [...next.jwks.keys, ...before.jwks.keys.filter(({ kid }) => kid !== next.id)]
  return { ...next, earlier, jwks: { keys: jwks } }
}

/** The keys that the configuration names, or that are found beside it. */
const found = Effect.fnUntraced(function*(options: Options | undefined) {
  const application = yield* Application
  const path = yield* Path.Path
  const { dataDir, isDevelopment, privatePath, publicPath } = yield* configuration
  const cfgDir = path.join(options?.cfgDir ?? application?.cfgDir ?? ".", "keys")
  const configured = yield* readFirst(privatePath, path.join(cfgDir, "private.pem"))
  if (configured !== undefined) {
    const pair = yield* parsePrivate(configured)
    if (publicPath !== undefined) {
      const publicFile = yield* read(publicPath)
      yield* requirePair(pair, yield* parsePublic(publicFile), publicFile.file)
    }
    return serviceOf(pair.publicKey, pair.privateKey)
  }
  const open = yield* readFirst(publicPath, path.join(cfgDir, "public.pem"))
  if (open !== undefined) return serviceOf(yield* parsePublic(open), undefined)
  if (!(options?.development ?? application?.development ?? isDevelopment)) {
    return yield* new KeysInvalid({
      problem: "there are none. Set APPKERNEL_PRIVATE_KEY_PATH, or security.private_key_path in cfg.yml, or put "
        + `private.pem into ${path.resolve(cfgDir)}; npx appkernel keys ${path.resolve(cfgDir)} makes a pair there`
    })
  }
  const folder = path.join(options?.dataDir ?? dataDir, "keys")
  const made = yield* madePair(folder, options?.algorithm ?? "RS256")
  return serviceOf(made.publicKey, made.privateKey)
})

/**
 * Makes a pair of keys in a folder, `private.pem` and `public.pem`, and returns its id. Fails with {@link KeysInvalid} if one
 * of the files is there, or can't be written. Only its owner can read the private key (mode 0600). The command `npx appkernel
 * keys` does this.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makePair: (
  folder: string,
  algorithm?: Algorithm
) => Effect.Effect<string, KeysInvalid, FileSystem.FileSystem | Path.Path> = Effect.fn("Keys.makePair")(
  function*(folder: string, algorithm: Algorithm = "RS256") {
    const path = yield* Path.Path
    const [privateFile, publicFile] = [path.join(folder, "private.pem"), path.join(folder, "public.pem")]
    for (const file of [privateFile, publicFile]) {
      if ((yield* readIfPresent(file)) !== undefined) return yield* unusable(file, "it is there already")
    }
    const isOurs = yield* writtenPair(folder, algorithm)
    if (!isOurs) return yield* unusable(privateFile, "it is there already")
    const { publicKey } = yield* parsePrivate(yield* read(privateFile))
    return publicKey.jwk.kid
  }
)

/**
 * {@link make} as a layer.
 *
 * **Example** (The keys that tokens are signed with)
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import { Keys } from "appkernel"
 * import { Effect, FileSystem, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const files = yield* FileSystem.FileSystem
 *   const folder = yield* files.makeTempDirectoryScoped()
 *   const layer = Keys.layerWith({ cfgDir: folder, dataDir: folder, development: true, algorithm: "ES256" })
 *   const keys = yield* Effect.provide(Keys.Keys, layer)
 *   const { mode } = yield* files.stat(`${folder}/keys/private.pem`)
 *   return [keys.algorithm, keys.jwks.keys.length, (mode & 0o777).toString(8)]
 * })
 *
 * await Effect.runPromise(Effect.provide(Effect.scoped(program), NodeServices.layer)) // => ["ES256", 1, "600"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (
  options: Options
): Layer.Layer<Keys, KeysInvalid | Config.ConfigError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(Keys, make(options))

/**
 * {@link make} as a layer, with the defaults of {@link Options}. `Jwt.layer` includes it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  Keys,
  KeysInvalid | Config.ConfigError,
  FileSystem.FileSystem | Path.Path
> = Layer.effect(Keys, make())

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// jose is loaded by programs that use it, and by no others.
const pairs = Effect.promise(() => import("./keys/keyPair.ts"))

interface Pair {
  readonly publicKey: keyPair.PublicKey
  readonly privateKey: jose.CryptoKey
  readonly file: string
}

/** An empty variable counts as not set. */
const present = (config: Config.Config<string>) =>
  Config.option(config).pipe(
    Config.map((value) => Option.getOrUndefined(Option.filter(value, (text) => text !== "")))
  )

/** The short name of a key: `APPKERNEL_PRIVATE_KEY_PATH`, or `appkernel.private_key_path`. */
const short = (name: string): Config.Config<string> =>
  Config.orElse(
    Config.nested(Config.String(name), "APPKERNEL"),
    () => Config.nested(Config.String(name.toLowerCase()), "appkernel")
  )

const configuration = Config.all({
  privateFirst: present(short("PRIVATE_KEY_PATH")),
  privateNext: present(configOr("security.private_key_path", "")),
  publicFirst: present(short("PUBLIC_KEY_PATH")),
  publicNext: present(configOr("security.public_key_path", "")),
  dataDir: present(configOr("embedded.path", "")),
  environment: present(Config.String("NODE_ENV"))
}).pipe(Config.map(({ dataDir, environment, privateFirst, privateNext, publicFirst, publicNext }) => ({
  dataDir: dataDir ?? defaultOf("embedded.path"),
  isDevelopment: environment === "development" || environment === "test",
  privatePath: privateFirst ?? privateNext,
  publicPath: publicFirst ?? publicNext
})))

const serviceOf = (
  { algorithm, jwk, key }: keyPair.PublicKey,
  privateKey: jose.CryptoKey | undefined
): Keys["Service"] => ({
  algorithm,
  id: jwk.kid,
  publicKey: key,
  privateKey: privateKey === undefined ? undefined : Redacted.make(privateKey, { label: "private key" }),
  jwks: { keys: [jwk] }
})

const unusable = (file: string, detail: string) => new KeysInvalid({ problem: `${file}: ${detail}` })

const unreadable = (file: string, reason: string) => unusable(file, `it can't be read (${reason})`)

interface PemFile {
  readonly file: string
  readonly pem: string
}

const readIfPresent = Effect.fnUntraced(function*(file: string) {
  const files = yield* FileSystem.FileSystem
  return yield* files.readFileString(file).pipe(
    Effect.map((pem): PemFile => ({ file, pem })),
    Effect.catchTag(
      "PlatformError",
      ({ reason }) => reason._tag === "NotFound" ? Effect.undefined : Effect.fail(unreadable(file, reason._tag))
    )
  )
})

const read = Effect.fnUntraced(function*(file: string) {
  return (yield* readIfPresent(file)) ?? (yield* unreadable(file, "NotFound"))
})

/** The configured file, which must exist, or without one the other file, if it exists. */
const readFirst = (configured: string | undefined, otherwise: string) =>
  configured === undefined ? readIfPresent(otherwise) : read(configured)

const parsePrivate = Effect.fnUntraced(function*({ file, pem }: PemFile) {
  const parsed = yield* Effect.flatMap(pairs, (module) => module.parsePrivate(pem))
  if (parsed === undefined) {
    return yield* unusable(
      file,
      "expected a private key in PEM (PKCS #8, no passphrase): RSA of 2,048 bits or more, P-256, or Ed25519"
    )
  }
  const pair: Pair = { ...parsed, file }
  return pair
})

const parsePublic = Effect.fnUntraced(function*({ file, pem }: PemFile) {
  const publicKey = yield* Effect.flatMap(pairs, (module) => module.parsePublic(pem))
  return publicKey ?? (yield* unusable(
    file,
    "expected a public key in PEM (SPKI): RSA of 2,048 bits or more, P-256, or Ed25519"
  ))
})

const requirePair = (pair: Pair, publicKey: keyPair.PublicKey, file: string) =>
  pair.publicKey.jwk.kid === publicKey.jwk.kid
    ? Effect.void
    : Effect.fail(unusable(file, `it is not the public key of ${pair.file}`))

/** Pairs of P-256 are made in a millisecond. */
const pairInMemory = Effect.gen(function*() {
  const module = yield* pairs
  const { privatePem } = yield* module.makePem("ES256")
  const pair = yield* parsePrivate({ file: "memory", pem: privatePem })
  return serviceOf(pair.publicKey, pair.privateKey)
})

/** The pair in a folder, which is made if it is missing. */
const madePair = Effect.fnUntraced(function*(folder: string, algorithm: Algorithm) {
  const path = yield* Path.Path
  const file = path.join(folder, "private.pem")
  const present = yield* readIfPresent(file)
  if (present !== undefined) return yield* parsePrivate(present)
  const isOurs = yield* writtenPair(folder, algorithm)
  if (isOurs) {
    yield* Effect.logWarning(
      `There are no keys for tokens: a pair was made in ${path.resolve(folder)}. In production, configure one`
    )
  }
  return yield* parsePrivate(yield* read(file))
})

/** Makes a pair in a folder. Returns whether there was none. */
const writtenPair = Effect.fnUntraced(function*(folder: string, algorithm: Algorithm) {
  const path = yield* Path.Path
  const { privatePem, publicPem } = yield* Effect.flatMap(pairs, (module) => module.makePem(algorithm))
  return yield* Effect.mapError(
    writePair(folder, privatePem, publicPem),
    ({ reason }) => unusable(path.resolve(folder), `no pair can be made there (${reason._tag})`)
  )
})
