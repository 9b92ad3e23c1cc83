/**
 * The two meta pages of lmdb's file, which name the trees of the two last commits, and how `mdb.c` stores numbers.
 *
 * All numbers are little-endian, as on every machine that lmdb's binaries are made for.
 */
import * as fs from "node:fs"

/** What the meta page of the last commit says. */
export interface MetaPage {
  readonly pageSize: number
  readonly lastPage: number
  readonly commit: number
  /** The tree that lists the free pages. */
  readonly free: Tree
  /** The tree that has the other trees by their names. */
  readonly main: Tree
}

export interface Tree {
  readonly name: string
  readonly flags: number
  readonly depth: number
  readonly branches: number
  readonly leaves: number
  readonly overflows: number
  readonly entries: number
  /** {@link noPage} if the tree is empty. */
  readonly root: number
}

export const noPage = 0xffff_ffff * 2 ** 32 + 0xffff_ffff

export const treeLength = 48

export const numberAt = (bytes: Buffer, at: number): number =>
  bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32

export const treeAt = (name: string, bytes: Buffer, at: number): Tree => ({
  name,
  flags: bytes.readUInt16LE(at + 4),
  depth: bytes.readUInt16LE(at + 6),
  branches: numberAt(bytes, at + 8),
  leaves: numberAt(bytes, at + 16),
  overflows: numberAt(bytes, at + 24),
  entries: numberAt(bytes, at + 32),
  root: numberAt(bytes, at + 40)
})

/** The meta page of the last commit, or what is wrong with the two. */
export const metaOf = (descriptor: number): MetaPage | string => {
  const first = metaAt(descriptor, 0, 0)
  if (typeof first === "string") return first
  const second = metaAt(descriptor, 1, first.pageSize)
  if (typeof second === "string") return second
  const [older, newer] = first.commit < second.commit ? [first, second] : [second, first]
  // Each commit writes the meta page that the one before it did not.
  const isNext = newer.commit === older.commit + 1 && newer.commit % 2 === Number(newer === second)
  const isNew = newer.commit === 0 && newer.main.root === noPage
  return first.pageSize === second.pageSize && (isNext || isNew) ? newer : "its meta pages contradict each other"
}

// internal

const metaLength = 160
const pageFlagsAt = 18
const magicAt = 24
const versionAt = 28
const mapSizeAt = 40
const freeTreeAt = 48
const mainTreeAt = 96
const lastPageAt = 144
const commitAt = 152

const metaFlag = 8
const magic = 0xbeefc0de
const version = 2
const integerKeys = 8
const pageSizes = new Set([512, 1024, 2048, 4096, 8192, 16_384, 32_768])

// The address space of a process.
const maxMapSize = 2 ** 47

const metaAt = (descriptor: number, number: number, position: number): MetaPage | string => {
  const page = Buffer.alloc(metaLength)
  const length = fs.readSync(descriptor, page, 0, metaLength, position)
  if (
    length < metaLength || page.readUInt32LE(magicAt) !== magic || (page.readUInt32LE(versionAt) & 0xffff) !== version
  ) {
    return "it has no meta pages of a known version"
  }
  const [free, main] = [treeAt("of free pages", page, freeTreeAt), treeAt("of trees", page, mainTreeAt)]
  const pageSize = page.readUInt32LE(freeTreeAt)
  const [lastPage, commit, mapSize] = [lastPageAt, commitAt, mapSizeAt].map((at) => numberAt(page, at)) as [
    number,
    number,
    number
  ]
  const isValid = numberAt(page, 0) === number && page.readUInt16LE(pageFlagsAt) === metaFlag &&
    pageSizes.has(pageSize) && free.flags === integerKeys && main.flags === 0 &&
    Math.max(mapSize, (lastPage + 1) * pageSize) < maxMapSize
  return isValid ? { pageSize, lastPage, commit, free, main } : `meta page ${number} is damaged`
}
