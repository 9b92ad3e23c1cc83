import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Action,
  type Event,
  initialWorkers,
  transition,
  type Workers
} from "../../../src/Http/startup/workerStates.ts"

/** A process as the system has it: what it was told, and what it has said. */
interface Process {
  readonly key: number
  readonly id: number
  hasJoined: boolean
  isReady: boolean
  /** Whether it ends when it is told to. */
  readonly stays: boolean
  stops: number
  hasLimit: boolean
  isKilled: boolean
  /** Whether it does not have the configuration that is there. */
  isStale: boolean
}

/** The system: it does what the machine says, and lets happen what may. Each choice selects one of those events. */
const makeWorld = (count: number) => {
  let workers: Workers = initialWorkers(count)
  const alive = new Map<number, Process>()
  const waits = new Set<number>()
  const told: Array<Action> = []
  const ids = Array.from({ length: count }, (_, index) => index + 1)
  let isStopping = false
  let hasServed = false
  let began = 0

  const current = () => [...alive.values()].filter(({ hasLimit }) => !hasLimit)
  const numbersServing = () => ids.filter((id) => current().some((one) => one.id === id && one.isReady)).length

  const perform = (action: Action, stays: boolean): void => {
    told.push(action)
    switch (action.do) {
      case "fork":
        assert.isFalse(isStopping)
        assert.isTrue(hasServed || (action.id === 1 && alive.size === 0))
        assert.isFalse(current().some(({ id, isReady }) => id === action.id && !isReady))
        began = action.key
        alive.set(action.key, {
          key: action.key,
          id: action.id,
          stays,
          hasJoined: false,
          isReady: false,
          stops: 0,
          hasLimit: false,
          isKilled: false,
          isStale: false
        })
        break
      case "wait":
        assert.isAtLeast(action.millis, 1_000)
        assert.isAtMost(action.millis, 30_000)
        assert.isFalse(current().some(({ id }) => id === action.id))
        waits.add(action.id)
        break
      case "stop":
      case "reload":
      case "kill":
      case "limit": {
        const process = alive.get(action.key) ?? assert.fail(`${action.do} of one that is gone`)
        if (action.do === "limit") process.hasLimit = true
        else if (action.do === "kill") process.isKilled = true
        else {
          // It would not hear it.
          assert.isTrue(process.hasJoined)
          if (action.do === "stop") process.stops++
          else process.isStale = false
        }
      }
    }
  }

  const happens = (event: Event, stays = false): void => {
    const before = numbersServing()
    if (event.is === "stop") isStopping = true
    const [after, actions] = transition(workers, event)
    workers = after
    for (const action of actions) perform(action, stays)
    if (!isStopping && event.is !== "exited") assert.isAtLeast(numbersServing(), before)
    assert.deepStrictEqual(workers.members.map(({ key }) => key), [...alive.keys()])
    for (const id of ids) assert.isAtMost(current().filter((one) => one.id === id && one.isReady).length, 1)
    // Each that retires has a limit, and is told to stop once.
    for (const { hasLimit, hasJoined, stops } of alive.values()) {
      assert.strictEqual(stops, hasLimit && hasJoined ? 1 : 0)
    }
    // Each number has a process, or waits for one.
    if (!isStopping && hasServed) {
      for (const id of ids) assert.isTrue(waits.has(id) || current().some((one) => one.id === id))
    }
  }

  const exits = (process: Process, ranMillis: number): void => {
    alive.delete(process.key)
    happens({ is: "exited", key: process.key, how: "code 1", ranMillis })
  }

  /** What happens by itself without a fault. */
  const ordinary = (stays: boolean): ReadonlyArray<() => void> => [
    ...[...alive.values()].flatMap((process): ReadonlyArray<() => void> => [
      ...process.hasJoined ? [] : [() => {
        process.hasJoined = true
        happens({ is: "joined", key: process.key, stopMillis: 1 })
      }],
      ...process.hasJoined && !process.isReady && process.stops === 0
        ? [() => {
          process.isReady = true
          hasServed = true
          happens({ is: "ready", key: process.key }, stays)
        }]
        : [],
      ...(process.stops > 0 && !process.stays) || process.isKilled ? [() => exits(process, 1)] : [],
      ...process.hasLimit && !process.isKilled ? [() => happens({ is: "overdue", key: process.key })] : []
    ]),
    ...[...waits].map((id) => () => {
      waits.delete(id)
      happens({ is: "waited", id }, stays)
    })
  ]

  return {
    alive,
    told,
    began: () => began,
    isOver: () => told.some((action) => action.do === "fail"),
    begin: () => happens({ is: "begin" }),
    restart: () => happens({ is: "restart" }),
    reload: () => {
      for (const process of alive.values()) process.isStale = true
      happens({ is: "reload" })
    },
    stop: () => happens({ is: "stop" }),
    /** One of what may happen: also an end without a reason, and a signal. */
    anything(choice: number): void {
      const stays = choice % 3 === 0
      const happening = [
        ...ordinary(stays),
        // The service ends with the first one before it serves: that happens seldom here.
        ...[...alive.values()].filter(() => hasServed || choice > 9_500).map((process) => () =>
          exits(process, choice % 2 === 0 ? 1 : 100_000)
        ),
        this.restart,
        this.reload
      ]
      happening[choice % happening.length]?.()
    },
    /** Everything that happens without a fault, in some order, until nothing is left to happen. */
    settle(choices: ReadonlyArray<number>): void {
      for (let step = 0; step < 10_000; step++) {
        const happening = ordinary(false)
        if (happening.length === 0) return
        happening[(choices[step % choices.length] ?? 0) % happening.length]?.()
      }
      assert.fail("It does not come to rest")
    }
  }
}

const Choices = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })))
  .check(Schema.isMinLength(1), Schema.isMaxLength(80))

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))

const options = { arbitrary: { runs: 1_000 } }

describe("the states of workers", () => {
  it.prop(
    "lead to one process for each number, whatever ends and whichever signals come meanwhile",
    [Count, Choices],
    ([count, choices]) => {
      const world = makeWorld(count)
      world.begin()
      for (const choice of choices) if (!world.isOver()) world.anything(choice)
      if (world.isOver()) return
      world.settle(choices)
      const all = Array.from({ length: count }, (_, index) => index + 1)
      const serving = () => [...world.alive.values()].filter(({ hasLimit, isReady }) => isReady && !hasLimit)
      const assertWhole = (): void => {
        assert.sameMembers(serving().map(({ id }) => id), all)
        assert.strictEqual(world.alive.size, count)
        assert.isTrue(serving().every(({ isStale }) => !isStale))
      }
      assertWhole()
      // Each signal reaches all of them.
      const before = world.began()
      world.reload()
      world.restart()
      world.settle(choices)
      assertWhole()
      assert.isTrue(serving().every(({ key }) => key > before))
    },
    options
  )

  it.prop(
    "end with all processes gone, whenever the service is told to stop",
    [Count, Choices],
    ([count, choices]) => {
      const world = makeWorld(count)
      world.begin()
      for (const choice of choices) if (!world.isOver()) world.anything(choice)
      world.stop()
      for (const choice of choices.slice(0, 5)) world.anything(choice)
      world.settle(choices)
      assert.strictEqual(world.alive.size, 0)
      assert.isTrue(world.told.some((action) => action.do === "end"))
    },
    options
  )

  it("wait longer each time that one ends soon, and give up a restart whose new process can't start", () => {
    let workers = initialWorkers(2)
    const happens = (event: Event): ReadonlyArray<Action> => {
      const [after, actions] = transition(workers, event)
      workers = after
      return actions
    }
    const exited = (key: number, ranMillis: number): Event => ({ is: "exited", key, how: "code 1", ranMillis })
    const delays = (actions: ReadonlyArray<Action>) =>
      actions.flatMap((action) => action.do === "wait" ? [action.millis] : [])
    happens({ is: "begin" })
    happens({ is: "ready", key: 1 })
    assert.deepStrictEqual(delays(happens(exited(2, 5))), [1_000])
    const found = [3, 4, 5, 6, 7, 8].flatMap((key) => {
      happens({ is: "waited", id: 2 })
      return delays(happens(exited(key, 5)))
    })
    assert.deepStrictEqual(found, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    happens({ is: "waited", id: 2 })
    happens({ is: "ready", key: 9 })
    assert.deepStrictEqual(delays(happens(exited(9, 61_000))), [1_000])
    happens({ is: "waited", id: 2 })
    happens({ is: "ready", key: 10 })
    happens({ is: "restart" })
    assert.deepStrictEqual(happens(exited(11, 5)), [
      { do: "log", level: "error", text: "A new worker could not start: the others stay as they are", id: 1 }
    ])
    assert.deepStrictEqual(workers.members.map(({ key, phase }) => [key, phase]), [[1, "serving"], [10, "serving"]])
  })
})
