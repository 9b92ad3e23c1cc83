/** Time zones: offsets such as `+05:30`, and names of the IANA time zone database, which `Intl` has. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Result from "effect/Result"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"

export interface Zone {
  readonly isUtc: boolean
  /** The milliseconds by which the clocks of the zone are ahead of UTC at a time. */
  readonly offsetAt: (utc: number) => number
}

const fixed = (offset: number): Zone => ({ isUtc: offset === 0, offsetAt: () => offset })

export const utc: Zone = fixed(0)

/** The zone with this name or offset. Rejects an unknown one. */
export const zoneOf = (id: string): Zone => {
  const offset = utcNames.has(id) ? utc : offsetZone(id)
  if (offset !== undefined) return offset
  if (id.length > maxId) return unknownZone(id)
  // `Intl` ignores the case, so there are only as many names as zones.
  const name = id.toLowerCase()
  const known = zones.get(name)
  if (known !== undefined) return known === "unknown" ? unknownZone(id) : known
  charge(makeCost)
  const zone = namedZone(name)
  if (zone !== undefined) {
    zones.set(name, zone)
    return zone
  }
  if (unknown.length >= maxUnknown) { for (const one of unknown.splice(0)) zones.delete(one) }
  unknown.push(name)
  zones.set(name, "unknown")
  return unknownZone(id)
}

/** What a clock shows at a time. */
export const toLocal = (utc: number, zone: Zone): number => utc + zone.offsetAt(utc)

/** When a clock shows a local time, at the first of two; a skipped time is as long after the change. */
export const fromLocal = (local: number, zone: Zone): number => {
  const [before, after] = [zone.offsetAt(local - day), zone.offsetAt(local + day)]
  const first = local - before
  if (before === after || zone.offsetAt(first) === before) return first
  const second = local - after
  return zone.offsetAt(second) === after ? second : first
}

// internal

const day = 86_400_000

// Names of zones are shorter.
const maxId = 100

// Making a format of `Intl`, or failing to.
const makeCost = 5000

const utcNames: ReadonlySet<string> = new Set(["UTC", "GMT", "Z"])

/** Zones by their names in lower case, also some that there are not. */
const zones = new Map<string, Zone | "unknown">()

/** The names among them that are of no zone. */
const unknown: Array<string> = []

const maxUnknown = 1000

const unknownZone = (id: string): never => reject(`there is no time zone "${id.slice(0, 100)}"`)

const offsetZone = (id: string): Zone | undefined => {
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(id) ?? []
  return sign === undefined
    ? undefined
    : fixed((sign === "-" ? -60_000 : 60_000) * (60 * Number(hours) + Number(minutes)))
}

const intlCost = 400

// Zones change their offsets at whole quarters of an hour. Before 1970 some did at any second.
const quarter = 900_000

/** The zone with a name; `undefined` if there is none. */
const namedZone = (name: string): Zone | undefined => {
  if (!/^[a-z]/.test(name)) return undefined
  const format = Result.try(() => new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" }))
  if (Result.isFailure(format)) return undefined
  const known = new Map<number, number>()
  const offset = (utc: number): number => {
    charge(intlCost)
    const text = format.success.formatToParts(utc).find(({ type }) => type === "timeZoneName")?.value ?? ""
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT([+\-\u2212])(\d+)(?::(\d+))?(?::(\d+))?/.exec(text) ?? []
    const size = 1000 * (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds))
    return sign === undefined ? 0 : sign === "+" ? size : -size
  }
  return {
    isUtc: false,
    offsetAt: (utc) => {
      if (utc < 0) return offset(utc)
      if (known.size >= maxOffsets) known.clear()
      return getOrMake(known, Math.floor(utc / quarter), () => offset(utc))
    }
  }
}

const maxOffsets = 1000
