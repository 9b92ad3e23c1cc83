/**
 * Reads the pages of lmdb's file without lmdb, and checks them: lmdb trusts its pages, so that a damaged one ends the
 * process, hangs it, or lets a later write overwrite pages that are in use.
 *
 * A page has a header and the offsets of its nodes. A node has a key, and its value, the number of another page, or that
 * of the first of several pages that hold a large value.
 */
import { spend } from "@appkernel/document-store/internal"
import * as fs from "node:fs"
import { metaOf, type MetaPage, noPage, numberAt, type Tree, treeAt, treeLength } from "./metaPages.ts"

/** Receives a tree's key and value in order, and tells whether they may be there. The bytes are overwritten. */
export type SeeNode = (tree: string, key: Buffer, value: Buffer) => boolean

/** Steps of a check, and what is wrong, if anything. */
export type PageCheck = Generator<void, string | undefined>

/** What is wrong with a file, or `undefined`. Of a tree not to be read, it reads the pages above the leaves. */
export function* problemOfPages(descriptor: number, see: SeeNode, isRead: (tree: string) => boolean): PageCheck {
  const meta = metaOf(descriptor)
  return typeof meta === "string" ? meta : yield* new Pages(descriptor, meta, see, isRead).check()
}

// internal

const headerLength = 24
const commitAt = 8
const flagsAt = 18
const lowerAt = 20
const upperAt = 22

// What the flags of a page say it is; no others are in the file.
const branch = 1
const leaf = 2
const overflow = 4

// Before the key of a node: the length of its value, or with the flags the number of a page; the flags; the key's length.
const nodeLength = 8
const nodeFlagsAt = 4
const keyLengthAt = 6

const inline = 0
const large = 1
const subtree = 2

// A large value: the number of its first page, a commit, and the number of its pages.
const largeLength = 24
const largePagesAt = 16

const maxDepth = 32
const minKeys = { [branch]: 2, [leaf]: 1 }

// About the units of work of a page.
const workOfPage = 500

/** How the leaves of a tree are read: not at all, or by a function that tells whether they may be as they are. */
type SeeLeaf = ((key: Buffer, value: Buffer, flags: number) => boolean) | undefined

type Compare = (a: Buffer, b: Buffer) => number

interface Walk {
  readonly tree: Tree
  readonly see: SeeLeaf
  readonly compare: Compare
  /** Counts what is found. */
  branches: number
  leaves: number
  overflows: number
  entries: number
}

class Pages {
  readonly #descriptor: number
  readonly #meta: MetaPage
  readonly #see: SeeNode
  readonly #isRead: (tree: string) => boolean
  /** The number of pages that the file has room for. The last ones may be absent if they are free. */
  readonly #present: number
  /** A bit for each page that is in use. */
  readonly #used: Uint8Array
  /** A page for each level of the tree that is read. */
  readonly #levels: Array<Buffer> = []
  #value = Buffer.alloc(0)

  constructor(descriptor: number, meta: MetaPage, see: SeeNode, isRead: (tree: string) => boolean) {
    this.#descriptor = descriptor
    this.#meta = meta
    this.#see = see
    this.#isRead = isRead
    this.#present = Math.min(Math.floor(fs.fstatSync(descriptor).size / meta.pageSize), meta.lastPage + 1)
    this.#used = new Uint8Array((this.#present >>> 3) + 1)
  }

  *check(): PageCheck {
    const { free, main } = this.#meta
    const trees: Array<Tree> = []
    const problem = yield* this.#tree(main, (key, value, flags) => {
      if (flags === subtree && value.length === treeLength) {
        trees.push(treeAt(key.toString("latin1", 0, key.length - 1), value, 0))
      }
      return trees.at(-1)?.flags === 0
    })
    if (problem !== undefined) return problem
    for (const tree of trees) {
      const see: SeeLeaf = (key, value, flags) =>
        (flags === inline || flags === large) && this.#see(tree.name, key, value)
      const problem = yield* this.#tree(tree, this.#isRead(tree.name) ? see : undefined)
      if (problem !== undefined) return problem
    }
    return yield* this.#tree(free, (key, list) => {
      const runs = freeRunsOf(list)
      return runs?.every(this.#isFree) === true && key.length === 8 && numberAt(key, 0) <= this.#meta.commit
    }, compareNumbers)
  }

  readonly #isFree = ({ count, first }: Run): boolean => {
    if (first < 2 || first + count > this.#meta.lastPage + 1) return false
    // A page that the file does not have is not in use.
    const end = Math.min(first + count, this.#present)
    for (let page = first; page < end; page++) if (this.#isUsed(page)) return false
    return true
  }

  #isUsed(number: number): boolean {
    return (this.#used[number >>> 3]! & 1 << (number & 7)) !== 0
  }

  /** Takes a page into use; returns what is wrong with its number. */
  #use(number: number, count = 1): string | undefined {
    if (number < 2 || number + count > this.#meta.lastPage + 1) return `there is no page ${number}`
    if (number + count > this.#present) return `it is truncated: page ${number} is missing`
    for (let page = number; page < number + count; page++) {
      if (this.#isUsed(page)) return `page ${page} is in use twice`
      this.#used[page >>> 3]! |= 1 << (page & 7)
    }
    return undefined
  }

  *#tree(tree: Tree, see: SeeLeaf, compare: Compare = compareBytes): PageCheck {
    const walk = { tree, see, compare, branches: 0, leaves: 0, overflows: 0, entries: 0 }
    if (tree.depth > maxDepth || (tree.depth === 0) !== (tree.root === noPage)) {
      return `the tree ${tree.name} is damaged`
    }
    const problem = tree.depth === 0 ? undefined : yield* this.#page(walk, 1, tree.root, undefined, undefined)
    const isWhole = tree.branches === walk.branches && tree.leaves === walk.leaves &&
      (see === undefined || (tree.overflows === walk.overflows && tree.entries === walk.entries))
    return problem ?? (isWhole ? undefined : `the tree ${tree.name} has other pages or entries than it should`)
  }

  /** Checks a page and those below it, whose keys are from `start` to before `end`. */
  *#page(
    walk: Walk,
    level: number,
    number: number,
    start: Buffer | undefined,
    end: Buffer | undefined
  ): PageCheck {
    const isLeaf = level === walk.tree.depth
    if (isLeaf) walk.leaves += 1
    else walk.branches += 1
    const unusable = this.#use(number)
    if (unusable !== undefined || (isLeaf && walk.see === undefined)) return unusable
    spend(workOfPage)
    yield
    const { pageSize } = this.#meta
    const page = this.#levels[level] ??= Buffer.alloc(pageSize)
    fs.readSync(this.#descriptor, page, 0, pageSize, number * pageSize)
    const nodes = this.#nodesOf(page, number, isLeaf ? leaf : branch)
    if (nodes === undefined) return `page ${number} is damaged`
    let before = start
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]!
      // The first key of a branch is not used.
      const key = i === 0 && !isLeaf ? start : keyAt(page, node)
      const isOrdered = (before === undefined || key === undefined || i === 0 || walk.compare(before, key) < 0) &&
        (i > 0 || start === undefined || key === undefined || walk.compare(start, key) <= 0)
      if (!isOrdered || (end !== undefined && key !== undefined && walk.compare(key, end) >= 0)) {
        return `page ${number} is damaged: its keys are not in order`
      }
      before = key
      const next = nodes[i + 1]
      const problem = isLeaf && key !== undefined
        ? this.#leaf(walk, page, node, key)
        : yield* this.#page(walk, level + 1, childAt(page, node), key, next === undefined ? end : keyAt(page, next))
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** The offsets of the nodes of a page, if they fill it as they should. */
  #nodesOf(page: Buffer, number: number, kind: typeof branch | typeof leaf): ReadonlyArray<number> | undefined {
    const room = this.#meta.pageSize - headerLength
    const [lower, upper] = [page.readUInt16LE(lowerAt), page.readUInt16LE(upperAt)]
    if (
      numberAt(page, 0) !== number || numberAt(page, commitAt) > this.#meta.commit ||
      page.readUInt16LE(flagsAt) !== kind ||
      lower % 2 !== 0 || lower / 2 < minKeys[kind] || lower > upper || upper > room
    ) return undefined
    const nodes: Array<number> = []
    let length = 0
    for (let at = 0; at < lower; at += 2) {
      const offset = page.readUInt16LE(headerLength + at)
      if (offset < upper || offset % 2 !== 0 || offset + nodeLength > room) return undefined
      const node = headerLength + offset
      const end = nodeLength + page.readUInt16LE(node + keyLengthAt) + (kind === leaf ? valueLengthAt(page, node) : 0)
      if (offset + end > room) return undefined
      length += end + end % 2
      nodes.push(node)
    }
    return length === room - upper ? nodes : undefined
  }

  #leaf(walk: Walk, page: Buffer, node: number, key: Buffer): string | undefined {
    walk.entries += 1
    const flags = page.readUInt16LE(node + nodeFlagsAt)
    const at = node + nodeLength + key.length
    const length = page.readUInt32LE(node)
    const value = flags === large ? this.#largeValue(walk, page, at, length) : page.subarray(at, at + length)
    if (typeof value === "string") return value
    return walk.see?.(key, value, flags) === true ? undefined : `the tree ${walk.tree.name} has a damaged entry`
  }

  #largeValue(walk: Walk, page: Buffer, at: number, length: number): Buffer | string {
    const { pageSize } = this.#meta
    const [number, pages] = [numberAt(page, at), numberAt(page, at + largePagesAt)]
    const count = Math.floor((headerLength - 1 + length) / pageSize) + 1
    walk.overflows += count
    const unusable = pages === count ? this.#use(number, count) : `a large value has ${pages} pages instead of ${count}`
    if (unusable !== undefined) return unusable
    if (this.#value.length < count * pageSize) this.#value = Buffer.alloc(count * pageSize)
    const value = this.#value.subarray(0, headerLength + length)
    fs.readSync(this.#descriptor, value, 0, value.length, number * pageSize)
    spend(workOfPage * count)
    return numberAt(value, 0) === number && value.readUInt16LE(flagsAt) === overflow &&
        value.readUInt32LE(lowerAt) === count
      ? value.subarray(headerLength)
      : `page ${number} is damaged`
  }
}

const keyAt = (page: Buffer, node: number): Buffer => {
  const at = node + nodeLength
  return page.subarray(at, at + page.readUInt16LE(node + keyLengthAt))
}

const valueLengthAt = (page: Buffer, node: number): number =>
  page.readUInt16LE(node + nodeFlagsAt) === large ? largeLength : page.readUInt32LE(node)

const childAt = (page: Buffer, node: number): number =>
  page.readUInt32LE(node) + page.readUInt16LE(node + nodeFlagsAt) * 2 ** 32

const compareBytes: Compare = (a, b) => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const compareNumbers: Compare = (a, b) => a.length === 8 && b.length === 8 ? numberAt(a, 0) - numberAt(b, 0) : 0

interface Run {
  readonly first: number
  readonly count: number
}

/**
 * The runs of pages in a list of free pages, if it is one: a count, and numbers of pages; before the first page of a run, its
 * length is below zero. There are gaps of 0.
 */
const freeRunsOf = (list: Buffer): ReadonlyArray<Run> | undefined => {
  const end = list.length < 8 ? Infinity : numberAt(list, 0) * 8 + 8
  if (end > list.length) return undefined
  const runs: Array<Run> = []
  let count = 1
  for (let at = 8; at < end; at += 8) {
    const number = Number(list.readBigInt64LE(at))
    if (number > 0) runs.push({ first: number, count })
    count = number < 0 ? -number : 1
  }
  return runs
}
