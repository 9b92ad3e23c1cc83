/**
 * Backups of a folder: a copy of its file, and a manifest with its checksum. A folder is made beside its target, and moved
 * there when it is complete and on the disk, so that a crash never leaves an incomplete folder at the target.
 */
import { FileModes, makeFolder } from "@appkernel/document-store/folders"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { copyFile } from "node:fs/promises"
import * as path from "node:path"
import { pipeline } from "node:stream/promises"
import { copyTo } from "../storage/lmdb/copy.ts"
import { lockFolder, requireRegularFiles } from "../storage/lmdb/folderLock.ts"
import { dataFile } from "../storage/lmdb/preflight.ts"
import { isSound, type Verification, verifyUnused } from "./verify.ts"

export { verify } from "./verify.ts"

/**
 * The result of `EmbeddedStore.backup`, which is also the manifest of the backup.
 *
 * @category models
 * @since 0.1.0
 */
export interface Backup {
  /** The time at which the copy began. The documents are a snapshot from after that time. */
  readonly time: string
  /** The size of the copy. */
  readonly bytes: number
  /** The SHA-256 of the copy, in hexadecimal. */
  readonly sha256: string
  readonly collections: ReadonlyArray<{ readonly name: string; readonly documents: number }>
}

/** @internal */
export const backup = Effect.fnUntraced(
  function*(folder: string, to: string, beside: Beside = nothingBeside): Effect.fn.Return<Backup, StoreUnavailable> {
    const [location, target] = [path.resolve(folder), path.resolve(to)]
    if (fs.existsSync(target)) return yield* failed("backup", `${target} is there already`)
    return yield* made("backup", target, (draft) =>
      Effect.gen(function*() {
        const time = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
        yield* copyTo(location, draft)
        yield* Effect.sync(() => fs.rmSync(path.join(draft, "lock.mdb"), { force: true }))
        const found = yield* verifyUnused(draft)
        if (!isSound(found)) {
          return yield* failed("backup", `folder ${location} is damaged: ${verificationProblem(found)}`)
        }
        const collections = found.collections.map(({ documents, name }) => ({ name, documents }))
        const result = { time, ...yield* digestOf("backup", path.join(draft, dataFile)), collections }
        yield* attempt("backup", () =>
          fs.writeFileSync(path.join(draft, manifestFile), `${JSON.stringify(result, undefined, 2)}\n`))
        yield* beside(location, draft)
        return result
      }))
  }
)

/**
 * Copies what belongs to the documents of a folder, and is not among them: from one folder into another one, which has the
 * documents already.
 */
export type Beside = (from: string, to: string) => Effect.Effect<void, StoreUnavailable>

/** @internal */
export const restore = Effect.fnUntraced(
  function*({ beside = nothingBeside, folder, from, replace }: {
    readonly from: string
    readonly folder: string
    readonly replace: boolean
    readonly beside?: Beside | undefined
  }) {
    const [source, target] = [path.resolve(from), path.resolve(folder)]
    const manifest = yield* manifestOf("restore", source)
    if (manifest === undefined) return yield* failed("restore", `${source} is no backup: it has no ${manifestFile}`)
    if (manifest === "damaged") return yield* failed("restore", `${source} is damaged: ${damagedManifest}`)
    const isFolder = fs.statSync(target, { throwIfNoEntry: false })?.isDirectory()
    if (isFolder === false) return yield* failed("restore", `${target} is no folder`)
    const isTaken = isFolder === true && (yield* attempt("restore", () => fs.readdirSync(target))).length > 0
    if (isTaken && !replace) return yield* failed("restore", `${target} is there already, and is not empty`)
    // The lock keeps other processes from opening the folder until it is moved away.
    if (isTaken) yield* lockFolder(target)
    const stamp = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis)).replaceAll(":", "-")
    const replaced = isTaken ? `${target}.replaced-${stamp}` : undefined
    const found = yield* made("restore", target, (draft) =>
      Effect.gen(function*() {
        const data = path.join(draft, dataFile)
        // Node can't stop it.
        yield* Effect.uninterruptible(Effect.tryPromise({
          try: () => copyFile(path.join(source, dataFile), data, fs.constants.COPYFILE_FICLONE),
          catch: (cause) => failed("restore", messageOf(cause))
        }))
        const digest = yield* digestOf("restore", data)
        const found = yield* verifyUnused(draft)
        const problem = differenceOf(manifest, digest, found)
        if (problem !== undefined) return yield* failed("restore", `${source} is damaged: ${problem}`)
        if (!isSound(found)) return yield* failed("restore", `${source} is damaged: ${verificationProblem(found)}`)
        yield* beside(source, draft)
        return found
      }), replaced)
    const collections = found.collections.map(({ documents, name }) => ({ name, documents }))
    return { collections, ...replaced === undefined ? {} : { replaced } }
  },
  Effect.scoped
)

/**
 * Reads a backup, and compares it with its manifest. Returns `undefined` if the folder is no backup.
 *
 * @internal
 */
export const verified = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<
  Verification | undefined,
  StoreUnavailable
> {
  const manifest = yield* manifestOf("verify", folder)
  if (manifest === undefined) return undefined
  const found = yield* verifyUnused(folder)
  const problem = manifest === "damaged"
    ? damagedManifest
    : differenceOf(manifest, yield* digestOf("verify", path.join(folder, dataFile)), found)
  return { ...found, ...problem === undefined ? {} : { problem } }
})

// internal

const manifestFile = "manifest.json"

const nothingBeside: Beside = () => Effect.void

const damagedManifest = `${manifestFile} is damaged`

const Manifest = Schema.fromJsonString(Schema.Struct({
  time: Schema.String,
  bytes: Schema.Int,
  sha256: Schema.String,
  collections: Schema.Array(Schema.Struct({ name: Schema.String, documents: Schema.Int }))
}))

type Digest = Pick<Backup, "bytes" | "sha256">

const manifestOf = (
  operation: string,
  folder: string
): Effect.Effect<Backup | "damaged" | undefined, StoreUnavailable> =>
  Effect.gen(function*() {
    yield* requireRegularFiles(folder, ({ message }) => failed(operation, `folder ${folder}: ${message}`))
    const file = path.join(folder, manifestFile)
    if (!fs.existsSync(file)) return undefined
    const text = yield* attempt(operation, () => fs.readFileSync(file, "utf8"))
    return Result.getOrElse(Schema.decodeUnknownResult(Manifest)(text), () => "damaged" as const)
  })

const differenceOf = (manifest: Backup, { bytes, sha256 }: Digest, found: Verification): string | undefined => {
  if (manifest.bytes !== bytes) return `${dataFile} has ${bytes} bytes, and the manifest says ${manifest.bytes}`
  if (manifest.sha256 !== sha256) return `${dataFile} has another checksum than the manifest says`
  const counts = (collections: Backup["collections"]) =>
    collections.map(({ documents, name }) => `${name}: ${documents}`).join(", ")
  // The file is as it was copied: what differs is the manifest.
  return counts(manifest.collections) === counts(found.collections) ? undefined : damagedManifest
}

const verificationProblem = ({ collections, problem }: Verification): string =>
  problem ?? collections.flatMap(({ damaged }) => damaged.map(({ message }) => message))[0] ?? "documents are missing"

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const failed = (operation: string, detail: string): StoreUnavailable =>
  new StoreUnavailable({ operation, detail, retryable: false })

const attempt = <A>(operation: string, evaluate: () => A): Effect.Effect<A, StoreUnavailable> =>
  Effect.try({
    try: evaluate,
    catch: (cause) => failed(operation, messageOf(cause))
  })

const digestOf = (operation: string, file: string): Effect.Effect<Digest, StoreUnavailable> =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return Effect.map(
      Effect.tryPromise({
        try: (signal) => pipeline(fs.createReadStream(file, { highWaterMark: 1024 * 1024 }), hash, { signal }),
        catch: (cause) => failed(operation, messageOf(cause))
      }),
      () => ({ bytes: fs.statSync(file).size, sha256: hash.digest("hex") })
    )
  })

/**
 * Fills a draft beside the target and moves it there. One process at a time does so, and it first empties a draft that
 * a killed one left behind. A folder at the target is moved to `replaced`. A failure or an interruption leaves no draft.
 */
const made = <A>(
  operation: string,
  target: string,
  fill: (draft: string) => Effect.Effect<A, StoreUnavailable>,
  replaced?: string
): Effect.Effect<A, StoreUnavailable> =>
  Effect.scoped(Effect.gen(function*() {
    const draft = path.join(path.dirname(target), `.${path.basename(target)}.partial`)
    const modes = yield* FileModes
    const unmade = makeFolder(draft, modes.folder)
    if (unmade !== undefined) return yield* failed(operation, unmade)
    // What a link leads to is none of this program's.
    if (!fs.lstatSync(draft).isDirectory()) return yield* failed(operation, `${draft} is no folder`)
    // One that a killed process has left, perhaps an earlier version.
    yield* attempt(operation, () => fs.chmodSync(draft, modes.folder))
    yield* lockFolder(draft)
    return yield* Effect.gen(function*() {
      yield* attempt(operation, () => {
        for (const name of fs.readdirSync(draft)) {
          if (!isLock(name)) fs.rmSync(path.join(draft, name), { recursive: true })
        }
      })
      const result = yield* fill(draft)
      yield* attempt(operation, () => {
        for (const name of fs.readdirSync(draft)) {
          if (isLock(name)) continue
          // What has been copied has other permissions; a folder beside it has its own.
          if (!fs.statSync(path.join(draft, name)).isDirectory()) fs.chmodSync(path.join(draft, name), modes.file)
          flush(path.join(draft, name))
        }
        flush(draft)
      })
      yield* moved(operation, { draft, target, replaced })
      return result
    }).pipe(
      // Otherwise it would take the room of one more copy each time.
      Effect.onError(() => Effect.ignore(attempt(operation, () => fs.rmSync(draft, { recursive: true, force: true }))))
    )
  }))

/** Moves a draft to the target. Fails if a folder there has been filled meanwhile; `replaced` is back at the target then. */
const moved = Effect.fnUntraced(function*(
  operation: string,
  { draft, replaced, target }: {
    readonly draft: string
    readonly target: string
    readonly replaced?: string | undefined
  }
): Effect.fn.Return<void, StoreUnavailable> {
  const move = attempt(operation, () => fs.renameSync(draft, target))
  if (replaced === undefined) yield* move
  else {
    yield* attempt(operation, () => fs.renameSync(target, replaced))
    yield* Effect.tapError(move, ({ detail }) =>
      Effect.mapError(
        attempt(operation, () => fs.renameSync(replaced, target)),
        (error) => failed(operation, `${detail}. What was at ${target} is at ${replaced}: ${error.detail}`)
      ))
  }
  yield* attempt(operation, () => {
    for (const name of fs.readdirSync(target)) if (isLock(name)) fs.rmSync(path.join(target, name))
    flush(path.dirname(target))
  })
})

const isLock = (name: string): boolean => name.startsWith("owner.")

const flush = (file: string): void => {
  const descriptor = fs.openSync(file, "r")
  fs.fsyncSync(descriptor)
  fs.closeSync(descriptor)
}
