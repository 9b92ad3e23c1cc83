import { assert, describe, it } from "@effect/vitest"
import * as Circuit from "../../../src/Client/breaker/circuit.ts"
import { breakerTable, sequenceOf } from "../support/breakerTable.ts"

describe("the circuit of a breaker", () => {
  it("has the states of the table, for 100,000 sequences of calls at random times", () => {
    const taken = new Map<string, number>()
    for (let seed = 0; seed < 100_000; seed++) {
      for (const { from, to } of checked(seed)) taken.set(`${from} ${to}`, (taken.get(`${from} ${to}`) ?? 0) + 1)
    }
    for (const transition of ["Closed Open", "Open HalfOpen", "HalfOpen Closed", "HalfOpen Open"]) {
      assert.isAbove(taken.get(transition) ?? 0, 10_000, transition)
    }
    assert.strictEqual(taken.size, 4)
  })
})

/** Compares a circuit with the table after each step, and returns the transitions. */
const checked = (seed: number) => {
  const { limits, steps } = sequenceOf(seed)
  const table = breakerTable(limits)
  let circuit = Circuit.initial
  let time = 0
  const now = () => time
  const running: Array<{ readonly call: number; readonly epoch: number }> = []
  for (const [call, { kind, of }] of steps.entries()) {
    if (kind === "wait") {
      time += of
      table.pass(of)
    } else if (kind === "start") {
      const admitted = Circuit.admit(Circuit.at(circuit, now), limits)
      if (admitted !== undefined) {
        circuit = admitted
        running.push({ call, epoch: admitted.epoch })
      }
      if ((admitted !== undefined) !== table.start(call)) assert.fail(`seed ${seed}, step ${call}`)
    } else {
      const [ended] = running.splice(of % Math.max(1, running.length), 1)
      if (ended === undefined) continue
      circuit = Circuit.settle(Circuit.at(circuit, now), ended.epoch, kind, now, limits)
      table.end(ended.call, kind)
    }
    circuit = Circuit.at(circuit, now)
    if (circuit._tag !== table.state || numberOf(circuit, time) !== table.number) {
      assert.fail(`seed ${seed}, step ${call}`)
    }
  }
  return table.transitions
}

const numberOf = (circuit: Circuit.Circuit, time: number): number => {
  if (circuit._tag === "Open") return circuit.until - time
  return circuit._tag === "Closed" ? circuit.failures : circuit.probes
}
