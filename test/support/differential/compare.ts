/** Runs scenarios on several stores, and finds the first answer that differs. */
import { Effect } from "effect"
import { type Answer, answersOf, isWrite, type Store } from "./answers.ts"
import { printed, printedCall, source } from "./print.ts"
import type { Scenario } from "./scenario.ts"

/** A store that answers like the reference, but for what it is known to answer otherwise. */
export interface Peer {
  readonly name: string
  readonly store: Store
  /** The scenario as the peer runs it. */
  readonly adapt?: ((scenario: Scenario) => Scenario) | undefined
  /** Whether the answer to a call, given as source with its documents, is not to be compared. */
  readonly answersOtherwise?: ((source: string) => boolean) | undefined
}

export interface Difference {
  readonly peer: string
  readonly scenario: Scenario
  readonly expected: Answer
  readonly actual: Answer
}

/** The same indexes but for those that only make a query faster. */
export const withoutIndexes = (scenario: Scenario): Scenario => ({
  ...scenario,
  indexes: scenario.indexes.filter(({ key, unique }) =>
    unique === true || Object.values(key).includes("text") || (typeof key["g"] === "string" && needsLocations(scenario))
  )
})

// A search by distance needs an index of locations, and such an index rejects other values.
const needsLocations = ({ calls }: Scenario): boolean =>
  calls.some((call) => "update" in call || /"\$(near|geoNear)/.test(JSON.stringify(call)))

/** The first difference of the peers to the reference store. */
export const differenceOf = Effect.fnUntraced(function*(
  reference: Store,
  peers: ReadonlyArray<Peer>,
  scenario: Scenario
) {
  for (const { adapt = (same: Scenario) => same, answersOtherwise = () => false, name, store } of peers) {
    const expected = yield* answersOf(reference, scenario)
    const actual = yield* answersOf(store, adapt(scenario))
    const at = firstDifference(expected, actual, scenario, answersOtherwise)
    if (at === undefined) continue
    const found: Difference = { peer: name, scenario, expected: expected[at] ?? none, actual: actual[at] ?? none }
    return found
  }
  return undefined
})

const none: Answer = { text: "no answer" }

const firstDifference = (
  expected: ReadonlyArray<Answer>,
  actual: ReadonlyArray<Answer>,
  { calls, documents }: Scenario,
  answersOtherwise: ((source: string) => boolean) | undefined
): number | undefined => {
  const stored = source(documents)
  // A store without the same documents, or a failed index, answers otherwise for this reason alone.
  if (expected[0]?.text !== actual[0]?.text) return undefined
  for (const [index, call] of calls.entries()) {
    const [ours, theirs] = [expected[index + 1], actual[index + 1]]
    if (ours?.text === "broken") return index + 1
    if (answersOtherwise?.(`${stored}\n${printedCall(call)}`) === true || theirs?.text === "broken") {
      if (answersOtherwise === undefined) return index + 1
      if (isWrite(call)) return undefined
    } else if (ours?.text !== theirs?.text && ours?.text !== "unsupported") return index + 1
  }
  return undefined
}

/** What a difference is about: a smaller scenario shows the same fault only if its failures have the same reasons. */
export const kindOf = ({ actual, expected, peer }: Difference): string =>
  [peer, expected.reason ?? "a value", actual.reason ?? "a value"].join().replaceAll(/\d+|"[^"]*"|'[^']*'/g, "")

/** The difference as source, and with the answers. */
export const reportOf = ({ actual, expected, peer, scenario }: Difference): string =>
  [printed(scenario), `memory: ${shown(expected)}`, `${peer}: ${shown(actual)}`].join("\n")

const shown = ({ reason, text }: Answer): string => reason === undefined ? text : `${text}: ${reason}`
