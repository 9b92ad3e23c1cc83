/**
 * The states of the workers: each process is starting, serving or retiring until it is gone. A transition says what the primary
 * process does; `primary.ts` does it.
 */
import * as Duration from "effect/Duration"

/** A process. Another one of its number is its successor, or the one that it succeeds. */
export interface WorkerMember {
  readonly key: number
  readonly id: number
  readonly phase: "starting" | "serving" | "retiring"
  /** The milliseconds for its stop, which it says with its first message. It reads none before. */
  readonly stopMillis: number | undefined
  /** Whether the configuration has changed since it began, and it has not been told. */
  readonly isStale: boolean
}

export interface Workers {
  /** The number of workers, which are numbered from 1. */
  readonly count: number
  /** In the order of their beginning. */
  readonly members: ReadonlyArray<WorkerMember>
  /** The first worker starts alone, so that indexes and migrations are made once. */
  readonly mode: "first" | "running" | "stopping"
  /** Whether all have served at once. */
  readonly isComplete: boolean
  /** The numbers whose next process begins after a time. */
  readonly waiting: ReadonlySet<number>
  /** How often the last processes of a number have ended soon. */
  readonly failures: ReadonlyMap<number, number>
  readonly restart: Restart | undefined
  /** Whether a restart follows the one that runs. */
  readonly isAgain: boolean
  readonly lastKey: number
}

interface Restart {
  /** Processes up to this key are to be replaced. */
  readonly since: number
  /** The first is replaced. */
  readonly left: ReadonlyArray<number>
  /** Whether the first has a successor that serves. */
  readonly isReplaced: boolean
}

export type Event =
  | { readonly is: "begin" | "restart" | "reload" | "stop" }
  /** A process handles messages. */
  | { readonly is: "joined"; readonly key: number; readonly stopMillis: number }
  /** A process listens. */
  | { readonly is: "ready"; readonly key: number }
  | { readonly is: "exited"; readonly key: number; readonly how: string; readonly ranMillis: number }
  /** The time of a `wait` is over. */
  | { readonly is: "waited"; readonly id: number }
  /** The time of a `limit` is over. */
  | { readonly is: "overdue"; readonly key: number }

export type Action =
  | { readonly do: "fork"; readonly key: number; readonly id: number }
  | { readonly do: "stop" | "reload"; readonly key: number }
  | { readonly do: "kill"; readonly key: number }
  /** Replaces an earlier limit of the process. */
  | { readonly do: "limit"; readonly key: number; readonly millis: number }
  /** Replaces an earlier wait of the number. */
  | { readonly do: "wait"; readonly id: number; readonly millis: number }
  | { readonly do: "log"; readonly level: "info" | "warning" | "error"; readonly text: string; readonly id?: number }
  /** The first worker can't start. */
  | { readonly do: "fail" }
  /** All are gone after a stop. */
  | { readonly do: "end" }

export const initialWorkers = (count: number): Workers => ({
  count,
  members: [],
  mode: "first",
  isComplete: false,
  waiting: new Set(),
  failures: new Map(),
  restart: undefined,
  isAgain: false,
  lastKey: 0
})

/** The processes that serve, at most one for each number. */
export const serving = ({ members }: Workers): ReadonlyArray<WorkerMember> =>
  members.filter(({ phase }) => phase === "serving")

export const transition = (
  before: Workers,
  event: Event
): readonly [after: Workers, actions: ReadonlyArray<Action>] => {
  const draft = new Draft(before)
  draft.take(event)
  draft.goOn()
  return [draft.workers, draft.actions]
}

// internal

/** The waits before one that has ended is started again. */
const firstDelay = 1_000
const maxDelay = 30_000

/** A process that ends after this time has not failed because of its start. */
const healthyMillis = 60_000

/** The time for the stop of a process that has not said its own. */
const strangerMillis = 10_000

/** The workers within a transition. */
class Draft {
  workers: Workers
  readonly actions: Array<Action> = []

  constructor(before: Workers) {
    this.workers = before
  }

  take(event: Event): void {
    switch (event.is) {
      case "begin":
        return this.fork(1)
      case "restart":
        return this.set({ isAgain: this.workers.mode !== "stopping" })
      case "reload":
        for (const member of this.workers.members) this.reload(member)
        return
      case "stop":
        this.set({ mode: "stopping", waiting: new Set(), restart: undefined, isAgain: false })
        for (const member of this.workers.members) this.retire(member)
        return
      case "waited":
        if (this.workers.waiting.has(event.id)) this.fork(event.id)
        return
    }
    const member = this.workers.members.find(({ key }) => key === event.key)
    if (member === undefined) return
    switch (event.is) {
      case "joined":
        return this.joined({ ...member, stopMillis: event.stopMillis })
      case "ready":
        return member.phase === "starting" ? this.ready(member) : undefined
      case "overdue":
        this.log("warning", "A worker has not ended in time and is killed", member.id)
        this.actions.push({ do: "kill", key: member.key })
        return
      case "exited":
        this.set({ members: this.workers.members.filter((one) => one !== member) })
        return member.phase === "retiring" ? undefined : this.lost(member, event.how, event.ranMillis)
    }
  }

  /** Goes on with what may have waited for this event. */
  goOn(): void {
    const { count, isComplete, members, mode } = this.workers
    if (mode === "stopping" && members.length === 0) this.actions.push({ do: "end" })
    if (mode !== "running") return
    if (!isComplete && serving(this.workers).length === count) {
      this.set({ isComplete: true })
      this.log("info", `${count} workers serve: SIGHUP lets them read the configuration, SIGUSR2 restarts them`)
    }
    if (this.workers.restart === undefined && this.workers.isAgain) {
      this.log("info", "The workers are restarted, one after the other")
      const restart = { since: this.workers.lastKey, left: numbersTo(count), isReplaced: false }
      this.set({ isAgain: false, restart })
    }
    if (this.workers.restart !== undefined) this.goOnWith(this.workers.restart)
  }

  private goOnWith(restart: Restart): void {
    const [id, ...left] = restart.left
    if (id === undefined) {
      this.log("info", "All workers are restarted")
      this.set({ restart: undefined })
      return this.goOn()
    }
    const own = this.workers.members.filter((member) => member.id === id)
    if (own.some(({ phase }) => phase !== "serving")) return
    if (restart.isReplaced || own.some(({ key }) => key > restart.since)) {
      const next = { ...restart, left, isReplaced: false }
      this.set({ restart: next })
      return this.goOnWith(next)
    }
    this.fork(id)
  }

  private joined(member: WorkerMember): void {
    this.change(member)
    if (member.phase === "retiring") this.stop(member)
    else if (member.isStale) this.reload(member)
  }

  private ready(member: WorkerMember): void {
    this.change({ ...member, phase: "serving" })
    for (const one of this.workers.members) {
      if (one.id === member.id && one.key < member.key) this.retire(one)
    }
    const { mode, restart } = this.workers
    if (restart !== undefined && restart.left[0] === member.id && member.key > restart.since) {
      this.set({ restart: { ...restart, isReplaced: true } })
    }
    if (mode !== "first") return
    this.set({ mode: "running" })
    for (const id of numbersTo(this.workers.count).slice(1)) this.fork(id)
  }

  /** Handles the end of a process that was not stopped. */
  private lost({ id, key, phase }: WorkerMember, how: string, ranMillis: number): void {
    const { failures, members, mode, restart, waiting } = this.workers
    if (mode === "first") {
      this.actions.push({ do: "fail" })
      return
    }
    const hasOther = members.some((one) => one.id === id && one.phase !== "retiring")
    if (phase === "starting" && restart?.left[0] === id && key > restart.since) {
      this.set({ restart: undefined })
      this.log("error", "A new worker could not start: the others stay as they are", id)
    }
    if (hasOther) {
      if (phase === "serving") {
        this.log("error", `A worker has ended (${how}) while another one starts in its place`, id)
      }
      return
    }
    const before = ranMillis > healthyMillis ? 0 : failures.get(id) ?? 0
    const millis = Math.min(firstDelay * 2 ** before, maxDelay)
    this.set({
      failures: new Map(failures).set(id, Math.min(before + 1, 10)),
      waiting: new Set(waiting).add(id)
    })
    this.log(
      "error",
      `A worker has ended (${how}) and is started again in ${Duration.format(Duration.millis(millis))}`,
      id
    )
    this.actions.push({ do: "wait", id, millis })
  }

  private fork(id: number): void {
    const key = this.workers.lastKey + 1
    const waiting = new Set(this.workers.waiting)
    waiting.delete(id)
    const member: WorkerMember = { key, id, phase: "starting", stopMillis: undefined, isStale: false }
    this.set({ lastKey: key, waiting, members: [...this.workers.members, member] })
    this.actions.push({ do: "fork", key, id })
  }

  private retire(member: WorkerMember): void {
    if (member.phase === "retiring") return
    this.change({ ...member, phase: "retiring" })
    this.stop(member)
  }

  /** Stops a process. One that has not joined gets the message when it joins. */
  private stop({ key, stopMillis }: WorkerMember): void {
    if (stopMillis !== undefined) this.actions.push({ do: "stop", key })
    this.actions.push({ do: "limit", key, millis: stopMillis ?? strangerMillis })
  }

  private reload(member: WorkerMember): void {
    if (member.phase === "retiring") return
    this.change({ ...member, isStale: member.stopMillis === undefined })
    if (member.stopMillis !== undefined) this.actions.push({ do: "reload", key: member.key })
  }

  private change(member: WorkerMember): void {
    this.set({ members: this.workers.members.map((one) => one.key === member.key ? member : one) })
  }

  private set(changed: Partial<Workers>): void {
    this.workers = { ...this.workers, ...changed }
  }

  private log(level: "info" | "warning" | "error", text: string, id?: number): void {
    this.actions.push({ do: "log", level, text, ...id === undefined ? {} : { id } })
  }
}

const numbersTo = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index + 1)
