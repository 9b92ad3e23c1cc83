/**
 * Interim answers that undici does not take (RFC 9110, section 15.2).
 */

/**
 * Takes each `100 Continue` out of what a server sends before the head of an answer, however it is split. undici would end the
 * connection, since nobody asked for it. Bytes that may be a part of one are kept until they are known.
 *
 * @internal
 */
export class Interim {
  #pending: Buffer = none

  /** What can be read of the bytes so far; nothing while more have to come. */
  without(chunk: Buffer): Buffer {
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    this.#pending = none
    const passed: Array<Buffer> = []
    while (isInterim(rest)) {
      const end = rest.indexOf("\r\n\r\n") + 4
      // No head is as long as that: undici says so.
      if (end < 4 && rest.length > maxHead) break
      if (end < 4) {
        this.#pending = rest
        rest = none
        break
      }
      if (!isContinue(rest)) passed.push(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
    return passed.length === 0 ? rest : Buffer.concat([...passed, rest])
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const none: Buffer = Buffer.alloc(0)

const maxHead = 16_384

const statusEnd = 12

/** Whether the bytes begin an interim answer, or may do so with more of them. A change of protocol is none. */
const isInterim = (bytes: Buffer): boolean => {
  const start = bytes.toString("latin1", 0, statusEnd)
  const line = start + "HTTP/1.1 100".slice(start.length)
  return start !== "" && line !== "HTTP/1.1 101" && /^HTTP\/1\.[01] 1\d\d$/u.test(line)
}

const isContinue = (bytes: Buffer): boolean => bytes.toString("latin1", statusEnd - 3, statusEnd) === "100"
