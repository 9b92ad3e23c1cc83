/**
 * A process that enqueues and does jobs, as the run tells it by messages. It says what has been done in messages, too.
 */

/** What the run asks for. */
export type Order =
  /** So many jobs, by so many callers of which each enqueues one after the other. */
  | { readonly act: "fill"; readonly jobs: number; readonly callers: number }
  /** So many jobs, of which each is enqueued at its time, whether the earlier ones are or not. */
  | { readonly act: "pace"; readonly jobs: number; readonly perSecond: number }

/** The milliseconds from the call that enqueued a job to its start, of those which have started since the last message. */
export type Report = ReadonlyArray<number>

/** The milliseconds of the clock that all processes share. */
const now = (): number => performance.timeOrigin + performance.now()

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Takes part with a queue. `open` gets the work of a job, and returns what enqueues one. */
export const takePart = async (
  open: (work: (at: number) => void) => Promise<(at: number) => Promise<unknown>>
): Promise<void> => {
  let delays: Array<number> = []
  const enqueue = await open((at) => delays.push(now() - at))
  setInterval(() => {
    if (delays.length === 0) return
    process.send?.(delays)
    delays = []
  }, 10)
  process.on("message", (order: Order) => {
    const done = order.act === "fill" ? fill(order) : pace(order)
    done.catch((cause: unknown) => {
      console.error(cause)
      process.exit(1)
    })
  })
  process.send?.([])

  const fill = async ({ callers, jobs }: Extract<Order, { readonly act: "fill" }>) => {
    let left = jobs
    await Promise.all(Array.from({ length: callers }, async () => {
      while (left-- > 0) await enqueue(now())
    }))
  }

  const pace = async ({ jobs, perSecond }: Extract<Order, { readonly act: "pace" }>) => {
    const start = now()
    const enqueued: Array<Promise<unknown>> = []
    for (let i = 0; i < jobs; i++) {
      const due = start + i * 1000 / perSecond
      if (due > now()) await pause(due - now())
      enqueued.push(enqueue(now()))
    }
    await Promise.all(enqueued)
  }
}

/** How many jobs a process does at a time. */
export const concurrency = 50
