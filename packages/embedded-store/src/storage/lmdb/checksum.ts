/**
 * The checksums of stored values, which cover their keys.
 *
 * A document is followed by the XXH32 of its bytes, or by the CRC-32 of more than 512, for which the native function takes
 * less time. Either begins with the hash of its key. An index entry, which is short, has the hash (FNV-1a) of its key and its
 * record id. Each notices every change of a single byte, and misses one of some four billion other changes. Values of folders of format 2 have none until they are written again.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { decodeDocument, recordIdLength } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import { crc32 } from "node:zlib"
import type { Damage } from "../orderedStore.ts"
import { xxHash } from "./xxHash.ts"

/** Thrown where a damaged value is read. */
export class DamagedValue implements Damage {
  readonly table: Damage["table"]
  readonly number: number
  readonly key: string
  readonly bytes: Uint8Array | undefined

  constructor(table: Damage["table"], number: number, key: string, bytes: Uint8Array | undefined) {
    this.table = table
    this.number = number
    this.key = key
    // The bytes of a read are overwritten by the next one.
    this.bytes = bytes && Uint8Array.prototype.slice.call(bytes, 0, bytes.length)
  }
}

export const checksumLength = 4

export const emptyHash = 0x811c_9dc5

export const hashOfText = (text: string, before: number): number => {
  let hash = before
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  return hash >>> 0
}

export const hashOfBytes = (bytes: Uint8Array, end: number, before: number): number => {
  let hash = before
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x0100_0193)
  return hash >>> 0
}

/** A document with its checksum, which is valid until the next call: lmdb copies it. */
export const checkedDocument = (bytes: Uint8Array, hash: number): Buffer => {
  const length = bytes.length + checksumLength
  const checked = length > kept.length ? Buffer.allocUnsafe(length) : kept.subarray(0, length)
  checked.set(bytes)
  checked.writeUInt32LE(checksumOf(checked, bytes.length, hash), bytes.length)
  return checked
}

export const isIntactDocument = (bytes: Uint8Array, hash: number): boolean => {
  const length = bytes.length - checksumLength
  return length > 0 && checksumOf(bytes, length, hash) === checksumAt(bytes, length)
}

/** A document, or `undefined` if it is damaged. */
export const storedDocument = (bytes: Uint8Array, hash: number, mayBeUnchecked: boolean): Document | undefined =>
  isIntactDocument(bytes, hash)
    ? decodeDocument(bytes, bytes.length - checksumLength)
    : mayBeUnchecked
    ? uncheckedDocument(bytes)
    : undefined

/** A document without a checksum, if it can be one. */
export const uncheckedDocument = (bytes: Uint8Array): Document | undefined =>
  Result.getOrUndefined(Result.try(() => decodeDocument(bytes)))

export const checkedEntry = (recordId: string, hash: number): Buffer => {
  const checked = Buffer.allocUnsafe(recordId.length + checksumLength)
  checked.write(recordId, "latin1")
  checked.writeUInt32LE(hashOfText(recordId, hash), recordId.length)
  return checked
}

export const isIntactEntry = (bytes: Uint8Array, hash: number): boolean => {
  const length = bytes.length - checksumLength
  return length >= 0 && hashOfBytes(bytes, length, hash) === checksumAt(bytes, length)
}

export const isUncheckedEntry = (bytes: Uint8Array): boolean => bytes.length === recordIdLength

const kept = Buffer.allocUnsafeSlow(16_384)

const checksumOf = (bytes: Uint8Array, length: number, hash: number): number =>
  length > 512 ? crc32(bytes.subarray(0, length), hash) : xxHash(bytes, length, hash)

const checksumAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0
