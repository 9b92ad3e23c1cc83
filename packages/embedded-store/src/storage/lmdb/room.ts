/**
 * Watches the room that a folder's file system has left, so that no write meets its end: where not a byte can be written, lmdb writes its
 * message beyond its buffer, which may end the process.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fs from "node:fs"

/** Whether there is room for further writes. */
export interface Room {
  /** Notes that a value of so many bytes is written. */
  readonly wrote: (bytes: number) => void
  /** Why nothing can be written now, if so. The system is asked once a second, and after some writes. */
  readonly lack: () => string | undefined
}

/** What a file system has, in bytes. */
export interface Space {
  readonly size: number
  readonly free: number
}

/** Watches the room for a folder. What there is begins and ends to lack is logged. */
export const watchRoom = (
  folder: string,
  ask: () => Space = () => spaceOf(folder),
  now: () => number = () => performance.now()
): Effect.Effect<Room> =>
  Effect.map(Effect.context<never>(), (context) => {
    const log = Effect.runForkWith(context)
    let lack: string | undefined
    let asked = -Infinity
    let left = 0
    const look = () => {
      // A file system that can't be asked is written to.
      const { free, size } = Result.getOrElse(Result.try(ask), () => ({ free: Infinity, size: Infinity }))
      const kept = Math.min(mostKept, size / 8)
      const before = lack
      lack = free >= kept
        ? undefined
        : `its file system has less than ${megabytes(kept)} MB free (there is no room left)`
      left = kept / 8
      if (before === undefined && lack !== undefined) log(Effect.logError(`Writes to ${folder} are refused: ${lack}`))
      if (before !== undefined && lack === undefined) log(Effect.logInfo(`There is room for writes to ${folder} again`))
    }
    return {
      wrote: (bytes) => {
        left -= bytes + page
      },
      lack: () => {
        const time = now()
        if (lack !== undefined || left <= 0 || time - asked >= askEvery) {
          asked = time
          look()
        }
        return lack
      }
    }
  })

// internal

/** In bytes. Of a small disk an eighth is kept. */
const mostKept = 32 * 1024 * 1024

/** What a value changes at most besides its own bytes, in the page that has its key. */
const page = 4_096

/** In milliseconds. */
const askEvery = 1_000

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)

const spaceOf = (folder: string): Space => {
  const { bavail, blocks, bsize } = fs.statfsSync(folder)
  // Some file systems don't say what they have.
  return blocks === 0 ? { free: Infinity, size: Infinity } : { free: bavail * bsize, size: blocks * bsize }
}
