/**
 * What the parts of the benchmark have in common: reading their options, and the table.
 */
import * as os from "node:os"

export const positive = (name: string, value: string): number => {
  const number = Number(value)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${name} takes a positive whole number, not ${value}`)
}

export const chosen = <A>(
  name: string,
  value: string,
  from: ReadonlyMap<string, A>
): ReadonlyArray<readonly [string, A]> =>
  value.split(",").map((key) => {
    const found = from.get(key)
    if (found === undefined) throw new Error(`--${name} takes ${[...from.keys()].join(", ")}, not ${key}`)
    return [key, found]
  })

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** Between neighbours in proportion. */
export const quantile = (values: ReadonlyArray<number>, part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const [low = NaN, high = NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

/** The same numbers in each process that begins with the same seed. */
export const randomOf = (seed: number) => () => {
  seed = seed + 0x6d2b79f5 | 0
  let bits = Math.imul(seed ^ seed >>> 15, seed | 1)
  bits = bits + Math.imul(bits ^ bits >>> 7, bits | 61) ^ bits
  return ((bits ^ bits >>> 14) >>> 0) / 2 ** 32
}

export const cpu = os.cpus()[0]?.model.trim() ?? "unknown CPU"

export const cores = os.cpus().length

export const printMachine = (): void =>
  console.log(`node ${process.version}, ${cpu}, ${cores} cores, load average ${os.loadavg()[0]?.toFixed(1)}`)

export const print = (title: string, cells: ReadonlyArray<string>): void =>
  console.log([title.padEnd(22), ...cells.map((cell) => cell.padStart(16))].join(""))
