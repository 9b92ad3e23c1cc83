/** What the service has counted until a time, of its text in the format of Prometheus. */
export interface Sample {
  /** In milliseconds. */
  readonly at: number
  readonly requests: number
  /** Those that were answered 500 and above. */
  readonly errors: number
  /** How many requests took at most so many seconds. */
  readonly within: ReadonlyMap<number, number>
  /** Operations of the store, and how many seconds they took together. */
  readonly operations: number
  readonly busy: number
  /** For how many seconds each process has run, by the labels of its series. */
  readonly uptimes: ReadonlyMap<string, number>
}

const series = /^([\w:]+)(?:\{(.*)\})? (\S+)/u

const status = /(?:^|,)http_response_status_code="(\d+)"/u

const upperBound = /(?:^|,)le="([^"]*)"/u

/** Reads the text; `undefined` if it says nothing of requests. */
export const sampleOf = (text: string, at: number): Sample | undefined => {
  let [requests, errors, operations, busy, isMeasured] = [0, 0, 0, 0, false]
  const within = new Map<number, number>()
  const uptimes = new Map<string, number>()
  for (const line of text.split("\n")) {
    const [, name, labels = "", value = ""] = series.exec(line) ?? []
    const count = Number(value)
    switch (name) {
      case "http_server_request_duration_seconds_count":
        isMeasured = true
        requests += count
        if (Number(status.exec(labels)?.[1]) >= 500) errors += count
        break
      case "http_server_request_duration_seconds_bucket": {
        const bound = Number(upperBound.exec(labels)?.[1]?.replace("+Inf", "Infinity"))
        within.set(bound, (within.get(bound) ?? 0) + count)
        break
      }
      case "db_client_operation_duration_seconds_count":
        operations += count
        break
      case "db_client_operation_duration_seconds_sum":
        busy += count
        break
      case "process_uptime_seconds":
        uptimes.set(labels, count)
        break
      default:
    }
  }
  return isMeasured ? { at, requests, errors, within, operations, busy, uptimes } : undefined
}

/** What was between two times; `undefined` where nothing was, the service has begun anew, or another process has answered. */
export interface Rates {
  readonly at: number
  /** Requests in a second. */
  readonly requests: number | undefined
  /** The part of them that failed. */
  readonly errors: number | undefined
  /** The time in which 95 of 100 were answered, in milliseconds. */
  readonly latency: number | undefined
  /** The mean time of an operation of the store, in milliseconds. */
  readonly store: number | undefined
}

const none = { requests: 0, errors: 0, within: new Map<number, number>(), operations: 0, busy: 0 }

/** The rates of a time at which nothing could be learned. */
export const noRates = (at: number): Rates => ({
  at,
  requests: undefined,
  errors: undefined,
  latency: undefined,
  store: undefined
})

/** How much longer or shorter than the time between two answers processes may have run between them, in seconds. */
const tolerance = 2

/** Whether it is the same processes that have answered: they have run for as much longer as time has passed. */
const isSame = (earlier: Sample, now: Sample): boolean =>
  earlier.uptimes.size === now.uptimes.size &&
  Array.from(now.uptimes).every(([labels, uptime]) => {
    const grown = uptime - (earlier.uptimes.get(labels) ?? Infinity)
    return Math.abs(grown - (now.at - earlier.at) / 1_000) <= tolerance
  })

/** The rates since a sample or, without one, since the service has begun, whose time is not known. */
export const ratesOf = (earlier: Sample | undefined, now: Sample): Rates => {
  if (earlier !== undefined && !isSame(earlier, now)) return noRates(now.at)
  const before = earlier ?? none
  const count = now.requests - before.requests
  const operations = now.operations - before.operations
  return {
    at: now.at,
    requests: earlier === undefined || count < 0 ? undefined : count / Math.max(1e-3, (now.at - earlier.at) / 1_000),
    errors: count > 0 ? Math.max(0, now.errors - before.errors) / count : undefined,
    latency: count > 0 ? quantileOf(0.95, count, before.within, now.within) : undefined,
    store: operations > 0 ? Math.max(0, (now.busy - before.busy) * 1_000 / operations) : undefined
  }
}

/** As Prometheus has it: within a bucket, values are spread evenly. */
const quantileOf = (
  part: number,
  count: number,
  before: ReadonlyMap<number, number>,
  now: ReadonlyMap<number, number>
): number | undefined => {
  let [low, below] = [0, 0]
  for (const [bound, total] of Array.from(now).toSorted(([one], [other]) => one - other)) {
    const until = total - (before.get(bound) ?? 0)
    if (until >= part * count) {
      return Number.isFinite(bound)
        ? 1_000 * (low + (bound - low) * (part * count - below) / Math.max(1, until - below))
        : 1_000 * low
    }
    ;[low, below] = [bound, until]
  }
  return undefined
}
