/** Takes a body of zstd apart between its frames (RFC 8878, section 3): Node decompresses one of them for each piece, and leaves what follows it. */

/** What takes the next piece of one body apart. What is no frame stays as it is, for Node to refuse. */
export const zstdFrames = (): (piece: Uint8Array) => ReadonlyArray<Uint8Array> => {
  const steps = layout()
  let step = steps.next(0).value
  let [done, value] = [0, 0]
  const advance = () => {
    step = steps.next(value).value
    done = 0
    value = 0
  }
  return (piece) => {
    const parts: Array<Uint8Array> = []
    let [from, at] = [0, 0]
    for (;;) {
      if (step.does === "end") {
        if (at > from) parts.push(piece.subarray(from, at))
        from = at
        advance()
      } else if (done === step.size) {
        advance()
      } else if (at === piece.length) {
        break
      } else if (step.does === "read") {
        value += (piece[at] ?? 0) * 2 ** (8 * done)
        at += 1
        done += 1
      } else {
        const passed = Math.min(step.size - done, piece.length - at)
        at += passed
        done += passed
      }
    }
    if (from < piece.length) parts.push(piece.subarray(from))
    return parts
  }
}

// internal

interface Step {
  readonly does: "read" | "pass" | "end"
  readonly size: number
}

/** A number, whose lowest byte comes first. */
const read = (size: number): Step => ({ does: "read", size })

const pass = (size: number): Step => ({ does: "pass", size })

const end: Step = { does: "end", size: 0 }

const sizesOfDictionaryId = [0, 1, 2, 4]

/** The parts of frames, one after the other. Each number that is read is what `yield` returns. */
const layout = function*(): Generator<Step, never, number> {
  for (;;) {
    const magic = yield read(4)
    if (Math.floor(magic / 16) === 0x184d2a5) {
      yield pass(yield read(4))
    } else if (magic === 0xfd2fb528) {
      const descriptor = yield read(1)
      const isSingle = descriptor >> 5 & 1
      const contentSize = descriptor >> 6
      yield pass(
        1 - isSingle + (sizesOfDictionaryId[descriptor & 3] ?? 0) + (contentSize === 0 ? isSingle : 2 ** contentSize)
      )
      for (let isLast = false; !isLast;) {
        const block = yield read(3)
        isLast = (block & 1) === 1
        // A block of one byte that is repeated has the number of repetitions as its size.
        yield pass((block >> 1 & 3) === 1 ? 1 : block >> 3)
      }
      yield pass((descriptor >> 2 & 1) * 4)
    } else yield pass(Infinity)
    yield end
  }
}
