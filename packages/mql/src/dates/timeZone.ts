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
  const known = zones.get(id)
  if (known !== undefined) return known
  const zone = offsetZone(id) ?? namedZone(id)
  if (zones.size < maxZones) zones.set(id, zone)
  return zone
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

// Names differ by their case only so often.
const maxZones = 1000
const zones = new Map<string, Zone>([["UTC", utc], ["GMT", utc], ["Z", utc]])

const offsetZone = (id: string): Zone | undefined => {
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(id) ?? []
  return sign === undefined
    ? undefined
    : fixed((sign === "-" ? -60_000 : 60_000) * (60 * Number(hours) + Number(minutes)))
}

const intlCost = 400

// Zones change their offsets at whole quarters of an hour. Before 1970 some did at any second.
const quarter = 900_000

const namedZone = (id: string): Zone => {
  const format = Result.try(() => new Intl.DateTimeFormat("en-US", { timeZone: id, timeZoneName: "longOffset" }))
  if (Result.isFailure(format) || !/^[A-Z]/i.test(id)) return reject(`there is no time zone "${id.slice(0, 100)}"`)
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
