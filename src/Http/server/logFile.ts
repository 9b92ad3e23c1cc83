/** Log files that rotate by size and survive a full disk. Writing never blocks the service. */
import { makeFolder } from "@appkernel/document-store/folders"
import type { FileModes } from "@appkernel/document-store/folders"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { closeSync, fstatSync, openSync, readSync, unlink } from "node:fs"
import * as path from "node:path"
import { createStream, type RotatingFileStream } from "rotating-file-stream"

/** A log file that is appended to and rotated by size. */
export interface LogFile {
  /** Appends asynchronously. Text that can't be written is dropped, and the service continues. */
  readonly write: (text: string) => void
}

export interface LogFileOptions {
  readonly file: string
  readonly maxSize: number
  readonly backupCount: number
  /** Called once each time writing starts to fail. */
  readonly onFailure: (detail: string) => void
  readonly modes: FileModes
  /** In milliseconds. */
  readonly now: () => number
}

/** The maximum number of bytes that wait for a slow disk. */
const maxQueuedBytes = 8_388_608

/** The milliseconds after a failure until the file is opened again. */
const retryDelay = 10_000

/** Opens the file. Fails with the reason if it can't be written. Closing the scope writes waiting text first. */
export const openLogFile = (options: LogFileOptions): Effect.Effect<LogFile, string, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(openStream(options), (stream) => makeFile(stream, options)),
    ({ close }) => Effect.timeoutOrElse(close, { duration: "5 seconds", orElse: () => Effect.void })
  )

const openStream = (options: LogFileOptions): Effect.Effect<RotatingFileStream, string> =>
  Effect.callback<RotatingFileStream, string>((resume) => {
    const problem = makeFolder(path.dirname(path.resolve(options.file)), options.modes.folder)
    if (problem !== undefined) {
      resume(Effect.fail(problem))
      return
    }
    const stream = streamOf(options)
    stream.once("open", () => resume(Effect.succeed(stream)))
    stream.once("error", (error) => resume(Effect.fail(detailOf(error))))
  })

const streamOf = ({ backupCount, file, maxSize, modes }: LogFileOptions): RotatingFileStream => {
  // Without a number of files, the library would keep all of them. For 0 it still keeps one, which is removed here.
  const stream = createStream(file, { size: `${maxSize}B`, rotate: Math.max(1, backupCount), mode: modes.file })
  if (backupCount === 0) stream.on("rotated", (name) => unlink(name, () => {}))
  return stream
}

const makeFile = (first: RotatingFileStream, options: LogFileOptions) => {
  let stream: RotatingFileStream | undefined
  let failedAt = 0
  const attach = (openStream: RotatingFileStream): void => {
    stream = openStream
    if (endsWithinLine(options.file)) openStream.write("\n")
    openStream.on("error", (error) => {
      // A failed stream can't be used again.
      if (stream !== openStream) return
      stream = undefined
      failedAt = options.now()
      options.onFailure(detailOf(error))
    })
  }
  attach(first)
  return {
    write: (text: string): void => {
      if (stream === undefined && options.now() - failedAt >= retryDelay) attach(streamOf(options))
      if (stream !== undefined && stream.writableLength <= maxQueuedBytes) stream.write(text)
    },
    close: Effect.callback<void>((resume) => {
      if (stream === undefined) return resume(Effect.void)
      stream.once("close", () => resume(Effect.void))
      stream.end()
    })
  }
}

/** Whether the last line is incomplete, after a full disk or a crash: then the next entry starts a new line. */
const endsWithinLine = (file: string): boolean => Option.getOrElse(lastByteOf(file), () => newline) !== newline

const newline = 0x0a

const lastByteOf = Option.liftThrowable((file: string): number => {
  const descriptor = openSync(file, "r")
  try {
    const { size } = fstatSync(descriptor)
    const last = Buffer.of(newline)
    if (size > 0) readSync(descriptor, last, 0, 1, size - 1)
    return last.readUInt8()
  } finally {
    closeSync(descriptor)
  }
})

const detailOf = (error: NodeJS.ErrnoException): string =>
  error.code === "EACCES" || error.code === "EPERM"
    ? "not permitted"
    : error.code === "ENOSPC"
    ? "the disk is full"
    : error.code === "EISDIR"
    ? "it is a folder"
    : error.code === "ENOTDIR" || error.code === "EEXIST"
    ? "a part of its path is no folder"
    : error.message
