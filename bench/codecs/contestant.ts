/**
 * What a contestant of the codec benchmark brings.
 */
import * as Effect from "effect/Effect"

/** The measured rows by their option names. */
export const rows = {
  create: "create body",
  invalid: "invalid body",
  wire: "wire document",
  instance: "from store",
  text: "store to text",
  stored: "to store"
}

export type RowName = keyof typeof rows

/** The same work over and over, on one input after the other. */
export interface Operation {
  /** What comes out of each input. */
  readonly outputs: () => ReadonlyArray<unknown>
  /** Does it `times` times; the last output keeps the work from being left out. */
  readonly run: (times: number) => unknown
}

export interface Contestant {
  readonly title: string
  /** The rows in which it gives what everybody has to give; all, unless it says otherwise. */
  readonly compared?: ReadonlyArray<RowName>
  readonly operations: { readonly [R in RowName]?: Operation }
}

/** What is told of a fault. */
export interface Problem {
  readonly field: string
  readonly message: string
}

export const plain = <I>(inputs: ReadonlyArray<I>, f: (input: I) => unknown): Operation => ({
  outputs: () => inputs.map(f),
  run: (times) => {
    let output: unknown
    for (let i = 0, next = 0; i < times; i++) {
      // The index is below the length.
      output = f(inputs[next] as I)
      if (++next === inputs.length) next = 0
    }
    return output
  }
})

/** What is an Effect runs in a fiber that is there already, as all of a service's work does. */
export const inFiber = <I, A, E>(inputs: ReadonlyArray<I>, f: (input: I) => Effect.Effect<A, E>): Operation => ({
  outputs: () => Effect.runSync(Effect.forEach(inputs, f)),
  run: (times) => {
    let i = 0
    let next = 0
    let output: unknown
    Effect.runSync(Effect.whileLoop({
      while: () => i < times,
      body: () => {
        // The index is below the length.
        const input = inputs[next] as I
        if (++next === inputs.length) next = 0
        i++
        return f(input)
      },
      step: (value) => {
        output = value
      }
    }))
    return output
  }
})

/** For the decoders of inputs that are known to be valid. */
export const refused = (reason: unknown): never => {
  throw new Error("A valid input was refused", { cause: reason })
}

/** For the decoders of inputs that are known to be invalid. */
export const accepted = (): never => {
  throw new Error("An invalid input was accepted")
}
