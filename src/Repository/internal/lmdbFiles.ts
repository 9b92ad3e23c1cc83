/**
 * What lmdb needs of a folder. It takes the process down when it can't open its files, so they are looked at before.
 */
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"

const dataFile = "data.mdb"
const lockFile = "lock.mdb"

// Both of the first two pages begin with a header and these two words.
const magicAt = 24
const magic = 0xbeefc0de
const versionAt = 28
const version = 2
const pageSizeAt = 48
const headerLength = 52

/**
 * Makes the folder, and says why lmdb couldn't use it.
 *
 * @internal
 */
export const problemOfFolder = (folder: string): string | undefined =>
  Result.match(
    Result.try({
      try: () => {
        fs.mkdirSync(folder, { recursive: true })
        // Files that are missing are made.
        for (const name of [dataFile, lockFile]) fs.closeSync(fs.openSync(path.join(folder, name), "a+"))
        return isDatabase(path.join(folder, dataFile)) ? undefined : `${dataFile} is damaged, or no database`
      },
      catch: (cause) => cause instanceof Error ? cause.message : "it can't be used"
    }),
    { onSuccess: (problem) => problem, onFailure: (problem) => problem }
  )

const isDatabase = (file: string): boolean => {
  const descriptor = fs.openSync(file, "r")
  const header = Buffer.alloc(headerLength)
  const readAt = (position: number): boolean =>
    fs.readSync(descriptor, header, 0, headerLength, position) === headerLength
  const isMeta = (position: number): boolean =>
    readAt(position) && header.readUInt32LE(magicAt) === magic && (header.readUInt32LE(versionAt) & 0xffff) === version
  const isNew = fs.fstatSync(descriptor).size === 0
  const isWhole = isNew || (isMeta(0) && isMeta(header.readUInt32LE(pageSizeAt)))
  fs.closeSync(descriptor)
  return isWhole
}
