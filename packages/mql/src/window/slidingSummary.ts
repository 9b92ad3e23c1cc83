/**
 * Summarises the values in a window that moves forwards, such as their sum. No value is subtracted when it leaves the window,
 * because that would lose precision. The window is a queue of two stacks: the back one has one summary of the values that
 * entered lately, the front one a summary for each value that may leave next. A result combines the two, and each value is
 * combined twice at most.
 */
import type { Expression } from "../expression/expression.ts"
import type { Summary } from "../expression/summaryOperators.ts"
import { memoryOf } from "../limits/sizeLimits.ts"
import type { Bounds, WindowFunction } from "./window.ts"

/** A window function whose value is a summary. `read` gives the value of a document. */
export const summarised = <A extends Summary<A>>(
  bounds: Bounds,
  read: Expression,
  start: () => A,
  result: (summary: A) => unknown
): WindowFunction =>
({ documents, weigh }) => {
  const waiting: Array<Weighed<unknown>> = []
  let back = start()
  // The summaries from each value on to the last one of the front; the first value's is on top.
  const front: Array<Weighed<A>> = []
  let isTurning = false
  /** Moves values from the back to the front; returns whether all are there. */
  const turn = (): boolean => {
    for (let n = 0; n < maxTurned; n++) {
      const value = waiting.pop()
      if (value === undefined) {
        back = start()
        return true
      }
      const summary = start()
      summary.add(value.item)
      const next = front.at(-1)
      front.push({ item: next === undefined ? summary : summary.with(next.item), bytes: value.bytes })
    }
    return false
  }
  return {
    ...bounds(documents),
    push: (document) => {
      const item = read(document)
      const bytes = valueSize + memoryOf(item)
      weigh(bytes)
      waiting.push({ item, bytes })
      back.add(item)
    },
    shift: () => {
      if (isTurning || front.length === 0) {
        isTurning = !turn()
        if (isTurning) return false
      }
      weigh(-(front.pop()?.bytes ?? 0))
      return true
    },
    result: () => {
      const first = front.at(-1)
      return result(first === undefined ? back : first.item.with(back))
    }
  }
}

// internal

interface Weighed<A> {
  readonly item: A
  readonly bytes: number
}

// What a value takes here beside itself: its summary and the slots of both.
const valueSize = 160

// The values that are moved in one step.
const maxTurned = 512
