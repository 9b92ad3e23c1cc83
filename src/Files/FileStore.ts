/**
 * Keeps the bytes of files: in a folder, in memory, or where else a store is written for. Documents hold what describes
 * their files, and repositories see that both change together.
 *
 * **When to use**
 *
 * A model with file fields needs none of this: its files are beside its documents, in the folder `files` of the embedded
 * store's folder, in memory with the store in memory, and in GridFS with MongoDB. Provide a layer of this module to the
 * repositories to keep them elsewhere.
 *
 * **Example** (Bytes in memory)
 *
 * ```ts
 * import { FileStore } from "appkernel"
 * import { Effect, Stream } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const files = yield* FileStore.FileStore
 *   const { id, size } = yield* files.put(Stream.make(new TextEncoder().encode("Hello, world")))
 *   const world = files.read(id, { offset: 7, length: 5 })
 *   return [size, yield* Stream.mkString(Stream.decodeText(world))]
 * })
 *
 * await Effect.runPromise(Effect.provide(program, FileStore.layerMemory)) // => [12, "world"]
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DeclarationError } from "../internal/declarationError.ts"
import type { S3Options } from "./port/s3Options.ts"
import type { Service } from "./port/service.ts"

export * from "./port/errors.ts"
export type { S3Options } from "./port/s3Options.ts"
export type { Entry, Range, Service, Stored } from "./port/service.ts"

/**
 * Keeps the bytes of files: see {@link Service}.
 *
 * @category services
 * @since 0.1.0
 */
export class FileStore extends Context.Service<FileStore, Service>()("appkernel/Files/FileStore") {}

/**
 * Files in a folder, which is created with the first of them. A file is on the disk, and so is its name, when its `put`
 * succeeds. Several processes may have the folder open.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeFolder = (path: string): Effect.Effect<Service> =>
  // Node's files are loaded by programs that use them, and by no others.
  Effect.flatMap(Effect.promise(() => import("./stores/folder.ts")), ({ makeFolderFiles }) => makeFolderFiles(path))

/**
 * Files in memory, which end with the process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<Service> = Effect.flatMap(
  Effect.promise(() => import("./stores/memory.ts")),
  ({ makeMemoryFiles }) => makeMemoryFiles
)

/**
 * Files in a bucket of S3, or of another service with its API. A file that is longer than a part is written in parts, and they are
 * removed if it is not completed. No file takes the name of another one, where the service knows `If-None-Match`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeS3 = (options: S3Options): Effect.Effect<Service> =>
  options.prefix?.split("/").some((segment) => segment === "." || segment === "..") === true
    // Addresses lose such segments: its files would be elsewhere, or in no bucket.
    ? Effect.die(new DeclarationError(`The prefix ${JSON.stringify(options.prefix)} has a segment of dots`))
    : Effect.map(Effect.promise(() => import("./stores/s3.ts")), ({ makeS3Files }) => makeS3Files(options))

/**
 * {@link makeFolder} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFolder = (path: string): Layer.Layer<FileStore> => Layer.effect(FileStore, makeFolder(path))

/**
 * {@link makeS3} as a layer.
 *
 * **Example** (Files in a bucket, by the environment)
 *
 * ```ts check
 * import { FileStore } from "appkernel"
 * import { Config, Effect, Layer } from "effect"
 *
 * const files = Layer.unwrap(Effect.gen(function*() {
 *   return FileStore.layerS3({
 *     endpoint: "https://s3.eu-central-1.amazonaws.com",
 *     region: "eu-central-1",
 *     bucket: "photos",
 *     accessKeyId: yield* Config.Redacted("AWS_ACCESS_KEY_ID"),
 *     secretAccessKey: yield* Config.Redacted("AWS_SECRET_ACCESS_KEY")
 *   })
 * }))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerS3 = (options: S3Options): Layer.Layer<FileStore> => Layer.effect(FileStore, makeS3(options))

/**
 * {@link makeMemory} as a layer, for tests.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<FileStore> = Layer.effect(FileStore, makeMemory)
