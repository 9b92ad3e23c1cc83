/**
 * Files in a folder: the one of the identifier `0123…` is `01/23/0123…`. What is being written is in `incoming`, a copy under
 * an identifier of its own, and is renamed when all of it is on the disk. An empty file in `holds` is a hold, whose time its process renews.
 */
import { makeFolder } from "@appkernel/document-store/folders"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { read, writev } from "node:fs"
import { fileModes } from "../../internal/fileModes.ts"
import { nodeFiles } from "../../internal/nodeFiles.ts"
import { hasOwnPieces, release, withOwnPieces } from "../../internal/ownPieces.ts"
import { FileMissing, FileStoreFailed } from "../port/errors.ts"
import type { Entry, Range, Service } from "../port/service.ts"
import { isForgotten, isIdentifier, newIdentifier, putting, staleAfter } from "./contents.ts"

/** The files of a folder, which is created with its first file. */
export const makeFolderFiles: (folder: string) => Effect.Effect<Service> = Effect.fnUntraced(function*(folder) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const modes = yield* fileModes
  const root = path.resolve(folder)
  const incoming = path.join(root, "incoming")
  const holds = path.join(root, "holds")
  const folderOf = (id: string) => path.join(root, id.slice(0, 2), id.slice(2, 4))
  const fileOf = (id: string) => path.join(folderOf(id), id)
  const partOf = (id: string) => path.join(incoming, id)
  // The folder that is there already, in which those that are made are.
  let top = path.dirname(root)
  while (!(yield* Effect.orElseSucceed(fs.exists(top), () => true))) top = path.dirname(top)
  /** The folders whose names are on the disk. */
  const onDisk = new Set<string>()

  const folderMade = (made: string) =>
    Effect.suspend(() => {
      const problem = makeFolder(made, modes.folder)
      return problem === undefined
        ? Effect.void
        : Effect.fail(new FileStoreFailed({ operation: "put", detail: problem, retryable: false }))
    })

  /** Writes the names in a folder to the disk. Where folders can't be opened, the system does so by itself. */
  const synced = (name: string) =>
    Effect.scoped(Effect.flatMap(
      Effect.option(fs.open(name, { flag: "r" })),
      Option.match({
        onNone: () => Effect.void,
        onSome: (opened) => opened.sync
      })
    ))

  /** A new file with the permissions of the configuration, in a folder that is there after the first attempt. */
  const created = (name: string) => {
    const open = Effect.tap(
      fs.open(name, { flag: "wx", mode: modes.file }),
      // A umask that takes nothing from the owner is the usual one.
      () => modes.file === 0o600 ? Effect.void : fs.chmod(name, modes.file)
    )
    return Effect.catchReason(
      open,
      "PlatformError",
      "NotFound",
      () => Effect.andThen(folderMade(path.dirname(name)), open)
    )
  }

  /** Writes the name of a folder to the disk, and those of the folders that it is in: once, for who has made it may not have. */
  const named = (one: string): Effect.Effect<void, PlatformError.PlatformError> =>
    one === top || onDisk.has(one)
      ? Effect.void
      : synced(path.dirname(one)).pipe(
        Effect.andThen(named(path.dirname(one))),
        Effect.andThen(Effect.sync(() => {
          onDisk.add(one)
        }))
      )

  const moved = (part: string, id: string) => {
    const rename = fs.rename(part, fileOf(id))
    return Effect.catchReason(
      rename,
      "PlatformError",
      "NotFound",
      () => Effect.andThen(folderMade(folderOf(id)), rename)
    )
  }

  const write = Effect.fnUntraced(function*<E, R>(
    id: string,
    content: Stream.Stream<Uint8Array, E, R>,
    isCopy: boolean
  ): Effect.fn.Return<void, E | FileStoreFailed, R> {
    // Another one may copy the same file, or was killed while it did so.
    const part = partOf(isCopy ? yield* newIdentifier : id)
    const writePart = Effect.scoped(Effect.gen(function*() {
      const file = yield* failing("put")(created(part))
      const isOwn = hasOwnPieces(content)
      yield* Stream.runForEachArray(
        isOwn ? inBlocks(content) : content,
        (pieces) => Effect.map(written(descriptorOf(file), pieces), () => isOwn ? pieces.forEach(release) : undefined)
      )
      yield* Effect.uninterruptible(failing("put")(file.sync))
    }))
    const place = Effect.all([moved(part, id), synced(folderOf(id)), named(folderOf(id))])
    yield* Effect.andThen(writePart, Effect.uninterruptible(failing("put")(place))).pipe(
      Effect.onError(() =>
        Effect.ignore(Effect.forEach(isCopy ? [part] : [part, fileOf(id)], (name) => fs.remove(name, { force: true })))
      )
    )
  })

  const entryOf = (id: string, file: string): Effect.Effect<ReadonlyArray<Entry>, PlatformError.PlatformError> =>
    fs.stat(file).pipe(
      Effect.map(({ mtime, size }) => [{ id, size: Number(size), modified: timeOf(mtime) }]),
      // It is removed, or moved to its place, since its folder was read.
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed([]))
    )

  const namesIn = (read: string, isWanted: (name: string) => boolean) =>
    fs.readDirectory(read).pipe(
      Effect.map((names) => names.filter(isWanted)),
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed([]))
    )

  const entriesIn = (read: string) =>
    Stream.fromIterableEffect(namesIn(read, isIdentifier)).pipe(
      Stream.mapEffect((id) => entryOf(id, path.join(read, id)), { concurrency: 8 }),
      Stream.flattenIterable
    )

  const foldersIn = (read: string) =>
    Stream.map(Stream.fromIterableEffect(namesIn(read, isLevel)), (name) => path.join(read, name))

  /** Whether the hold is one of a process that runs. */
  const isFresh = Effect.fnUntraced(function*(hold: string) {
    const [{ modified } = { modified: DateTime.makeUnsafe(0) }] = yield* entryOf(hold, path.join(holds, hold))
    const now = yield* DateTime.now
    if (isForgotten(modified, now)) yield* fs.remove(path.join(holds, hold), { force: true })
    return DateTime.isGreaterThan(modified, DateTime.subtractDuration(now, staleAfter))
  })

  /** Gives the folder of the holds that root has made for a backup to the owner of the files, who could not read it. */
  const shared = Effect.flatMap(fs.stat(root), ({ gid, uid }) =>
    Option.match(Option.all([uid, gid]), {
      onNone: () => Effect.void,
      onSome: ([user, group]) => fs.chown(holds, user, group)
    }))

  const held = Effect.fnUntraced(function*(hold: string) {
    const renewed = Effect.flatMap(
      DateTime.now,
      (now) => fs.utimes(hold, DateTime.toDateUtc(now), DateTime.toDateUtc(now))
    )
    yield* Effect.acquireRelease(
      failing("hold")(Effect.andThen(Effect.scoped(created(hold)), renewed)),
      () => Effect.ignore(fs.remove(hold, { force: true }))
    )
    yield* Effect.ignore(shared)
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(renewed), Schedule.spaced(Duration.times(staleAfter, 1 / 12))))
  })

  return {
    description: `files in ${folder}`,
    put: putting(write),
    read: (id, range) =>
      isIdentifier(id)
        ? withOwnPieces(Stream.unwrap(
          fs.open(fileOf(id), { flag: "r" }).pipe(
            Effect.map((file) => contentOf(descriptorOf(file), range)),
            Effect.mapError((error) => isNotFound(error) ? new FileMissing({ id }) : failed("read", error))
          )
        ))
        : Stream.fail(new FileMissing({ id })),
    stat: (id) =>
      isIdentifier(id)
        ? Effect.flatMap(
          failing("stat")(entryOf(id, fileOf(id))),
          ([entry]) => entry === undefined ? Effect.fail(new FileMissing({ id })) : Effect.succeed(entry)
        )
        : Effect.fail(new FileMissing({ id })),
    remove: (ids) =>
      failing("remove")(Effect.forEach(
        ids.filter(isIdentifier),
        (id) => Effect.andThen(fs.remove(fileOf(id), { force: true }), fs.remove(partOf(id), { force: true })),
        { discard: true, concurrency: 8 }
      )),
    entries: Stream.mapError(
      Stream.concat(entriesIn(incoming), Stream.flatMap(Stream.flatMap(foldersIn(root), foldersIn), entriesIn)),
      (error) => failed("entries", error)
    ),
    hold: Effect.flatMap(newIdentifier, (id) => held(path.join(holds, id))),
    isHeld: failing("hold")(
      Effect.map(
        Effect.flatMap(namesIn(holds, isIdentifier), (names) => Effect.forEach(names, isFresh)),
        (fresh) => fresh.includes(true)
      )
    )
  } satisfies Service
}, Effect.provide(nodeFiles))

// internal

/** Node's files have it, and their type is that of every platform. */
const descriptorOf = (file: FileSystem.File): number => (file as FileSystem.File & { readonly fd: number }).fd

/**
 * The bytes of an open file, by Node's own calls, as below: those of the platform's files take twice the time of a processor. A call that
 * were interrupted would go on while the file is closed.
 */
const contentOf = (fd: number, { length, offset }: Range = { offset: 0, length: Infinity }) => {
  let at = offset
  // Most files end within a first piece of this size, and after a short piece there is hardly ever more.
  let next = firstSize
  const end = offset + length
  return Stream.fromPull(Effect.succeed(
    Effect.uninterruptible(Effect.callback<readonly [Uint8Array], FileStoreFailed | Cause.Done>((resume) => {
      const size = Math.min(next, end - at)
      if (size <= 0) return resume(Cause.done())
      const piece = Buffer.allocUnsafeSlow(size)
      read(fd, piece, 0, size, at, (error, count) => {
        at += count
        next = count === size ? pieceSize : shortSize
        resume(
          error !== null
            ? Effect.fail(failedCall("read", error))
            : count === 0
            ? Cause.done()
            : Effect.succeed([count === size ? piece : piece.subarray(0, count)])
        )
      })
    }))
  ))
}

/** The bytes that a call of the system reads or writes at a time. */
const pieceSize = 262_144
const firstSize = 65_536
const shortSize = 4_096

/** Pieces that are written together, since calls of the system cost more than the bytes: those that their maker uses no more. */
const inBlocks = <E, R>(content: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.transformPull(content, (pull) =>
    Effect.sync(() => {
      let isEnded = false
      let pieces: Array<Uint8Array> = []
      let size = 0
      const gather: typeof pull = Pull.matchEffect(pull, {
        onSuccess: (more): typeof pull => {
          for (const piece of more) {
            pieces.push(piece)
            size += piece.length
          }
          return size < pieceSize && pieces.length < maxPieces ? gather : gathered()
        },
        onFailure: (cause): typeof pull => Effect.failCause(cause),
        onDone: (): typeof pull => {
          isEnded = true
          return gathered()
        }
      })
      const gathered = (): typeof pull => {
        const all = pieces
        pieces = []
        size = 0
        return Arr.isReadonlyArrayNonEmpty(all) ? Effect.succeed(all) : Cause.done()
      }
      return Effect.suspend(() => isEnded ? Cause.done() : gather)
    }))

/** A call of the system takes no more than 1024. */
const maxPieces = 512

/** Writes pieces at the end of an open file. */
const written = (fd: number, pieces: ReadonlyArray<Uint8Array>): Effect.Effect<void, FileStoreFailed> =>
  Effect.uninterruptible(Effect.callback((resume) => {
    const write = (rest: ReadonlyArray<Uint8Array>): void =>
      writev(fd, rest, (error, count) => {
        if (error !== null) return resume(Effect.fail(failedCall("put", error)))
        let left = count
        const more = rest.flatMap((piece) => {
          const own = Math.min(left, piece.length)
          left -= own
          return own === piece.length ? [] : [piece.subarray(own)]
        })
        if (more.length === 0) resume(Effect.void)
        else write(more)
      })
    write(pieces)
  }))

const isLevel = (name: string): boolean => /^[0-9a-f]{2}$/u.test(name)

const timeOf = (modified: Option.Option<Date>): DateTime.Utc =>
  Option.getOrElse(Option.flatMap(modified, (date) => DateTime.make(date)), () => DateTime.makeUnsafe(0))

const isNotFound = (error: PlatformError.PlatformError): boolean => error.reason._tag === "NotFound"

const failing = (operation: string) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, PlatformError.PlatformError> | FileStoreFailed, R> =>
  Effect.mapError(effect, (error) =>
    error instanceof PlatformError.PlatformError
      ? failed(operation, error)
      // What is left is none of the platform's.
      : error as Exclude<E, PlatformError.PlatformError>)

const failed = (operation: string, { message, reason }: PlatformError.PlatformError): FileStoreFailed =>
  failedCall(operation, { message, code: Predicate.hasProperty(reason.cause, "code") ? reason.cause.code : undefined })

const failedCall = (
  operation: string,
  { code, message }: { readonly code?: unknown; readonly message: string }
): FileStoreFailed => {
  const isFull = fullDisk.has(code)
  return new FileStoreFailed({ operation, detail: isFull ? "the disk is full" : message, retryable: isFull })
}

/** What the system says when a disk, a quota or the size that a file may have is used up. */
const fullDisk: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"])
