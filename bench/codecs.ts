/**
 * Measures how values are read and written, without a server, and prints nanoseconds for each, and ratios. See README.md.
 */
import * as DateTime from "effect/DateTime"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import { parseArgs } from "node:util"
import { ajv } from "./codecs/ajv.ts"
import { type Contestant, type Operation, type RowName, rows as allRows } from "./codecs/contestant.ts"
import { documents, invalidFields, items, orders, wireObjects } from "./codecs/data.ts"
import { ours, schema, schemaCompiled } from "./codecs/ours.ts"
import { byHand, json } from "./codecs/plain.ts"
import { zod, zodCompiled } from "./codecs/zod.ts"
import { chosen, cores, cpu, median, positive, print, printMachine, quantile } from "./report.ts"

const contestants = new Map<string, Contestant>([
  ["json", json()],
  ["hand", byHand()],
  ["ajv", await ajv()],
  ["zod", zod()],
  ["zodCompiled", zodCompiled()],
  ["schema", schema()],
  ["schemaCompiled", schemaCompiled()],
  ["ours", ours()]
])
const warmUp = 300

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    rounds: { type: "string", default: "21" },
    millis: { type: "string", default: "30" },
    rows: { type: "string", default: Object.keys(allRows).join(",") },
    contestants: { type: "string", default: [...contestants.keys()].join(",") },
    json: { type: "string" }
  }
})

/** Every contestant's own kinds of objects and dates as plain ones; what is `undefined` isn't there. */
const toPlain = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return DateTime.toDateUtc(value)
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  return Array.isArray(value)
    ? value.map(toPlain)
    : Object.fromEntries(
      Object.entries(value).filter(([, member]) => member !== undefined).map(([key, member]) => [key, toPlain(member)])
    )
}

const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

const classOf = (value: unknown): unknown => value instanceof Object ? value.constructor.name : undefined

/** Holds an output to what everybody has to give for the input at the index. */
const checks: { readonly [R in RowName]: (output: unknown, index: number) => void } = {
  create: (output, index) => assert.deepEqual(toPlain(output), orders[index]),
  invalid: (output) => {
    assert.ok(Array.isArray(output), "problems are a list")
    assert.deepEqual(
      output.map((problem) => String(member(problem, "field"))).toSorted((a, b) => a < b ? -1 : 1),
      invalidFields
    )
    for (const problem of output) assert.ok(String(member(problem, "message")).length > 0, "a problem has a message")
  },
  wire: (output, index) => assert.deepEqual(toPlain(output), items[index]),
  instance: (output, index) => {
    assert.equal(classOf(output), "Order")
    const address = member(output, "address")
    if (address !== undefined) assert.equal(classOf(address), "Address")
    const { _id, ...order } = documents[index] ?? {}
    assert.deepEqual(toPlain(output), { id: _id, ...order })
  },
  text: (output, index) => assert.deepEqual(JSON.parse(String(output)), wireObjects[index]),
  stored: (output, index) => assert.deepEqual(output, documents[index])
}

/** A contestant in a row. */
interface Cell {
  readonly contestant: string
  readonly row: RowName
  readonly operation: Operation
  /** Of one operation, in nanoseconds, by round. */
  readonly samples: Array<number>
}

const nanosOf = (operation: Operation, times: number): number => {
  const start = process.hrtime.bigint()
  operation.run(times)
  return Number(process.hrtime.bigint() - start) / times
}

/** Runs it until it is fast, and returns how often it can be done in the time of a sample. */
const warm = (operation: Operation, millis: number): number => {
  let nanos = 0
  for (const end = performance.now() + warmUp; performance.now() < end;) nanos = nanosOf(operation, 2000)
  return Math.ceil(millis * 1e6 / nanos)
}

const rounds = positive("rounds", options.rounds)
const millis = positive("millis", options.millis)
const rows = chosen("rows", options.rows, new Map(Object.entries(allRows)))
const taking = chosen("contestants", options.contestants, contestants)

printMachine()
console.log(`medians of ${rounds} rounds of ${millis} ms, after ${warmUp} ms of warm-up\n`)

const cells: Array<Cell> = []
for (const [name] of rows) {
  // `chosen` gives keys of what it was given.
  const row = name as RowName
  for (const [contestant, { compared, operations, title }] of taking) {
    const operation = operations[row]
    if (operation === undefined) continue
    if (compared === undefined || compared.includes(row)) {
      for (const [index, output] of operation.outputs().entries()) {
        try {
          checks[row](output, index)
        } catch (cause) {
          throw new Error(`${title}, ${allRows[row]}: not the expected output`, { cause })
        }
      }
    }
    cells.push({ contestant, row, operation, samples: [] })
  }
}

// All are warm before the first is measured: what they share has seen everything by then.
const times = cells.map(({ operation }) => warm(operation, millis))
for (let round = 0; round < rounds; round++) {
  for (let i = 0; i < cells.length; i++) {
    // Each follows the same one, but another begins.
    const at = (i + round) % cells.length
    const { operation, samples } = cells[at]!
    samples.push(nanosOf(operation, times[at] ?? 1))
  }
}

const cellOf = (contestant: string, row: string): Cell | undefined =>
  cells.find((cell) => cell.contestant === contestant && cell.row === row)
/** Of the same round, so that what else the machine did meanwhile touched both. */
const ratio = (cell: Cell | undefined, other: Cell | undefined): string =>
  cell === undefined || other === undefined
    ? "-"
    : median(cell.samples.map((nanos, round) => (other.samples[round] ?? NaN) / nanos)).toFixed(2)

print("ns per operation", rows.map(([, title]) => title))
for (const [contestant, { title }] of taking) {
  print(
    title,
    rows.map(([row]) => {
      const cell = cellOf(contestant, row)
      return cell === undefined ? "-" : median(cell.samples).toFixed(0)
    })
  )
}

if (taking.some(([contestant]) => contestant === "ours")) {
  console.log("")
  print("times as fast", rows.map(([, title]) => title))
  for (const [contestant, { title }] of taking) {
    if (contestant === "ours") continue
    print(`ours / ${title}`, rows.map(([row]) => ratio(cellOf("ours", row), cellOf(contestant, row))))
  }
}

const scattered = cells.filter(({ samples }) =>
  quantile(samples, 0.75) - quantile(samples, 0.25) > 0.2 * median(samples)
)
if (scattered.length > 0) {
  const names = scattered.map(({ contestant, row }) => `${contestants.get(contestant)?.title}, ${allRows[row]}`)
  console.log(`\nHalf of the rounds more than 20 % apart (other work on the machine?): ${names.join("; ")}`)
}

if (options.json !== undefined) {
  const settings = { node: process.version, cpu, cores, rounds, millis, warmUp }
  const samples = cells.map(({ contestant, row, samples }) => ({ contestant, row, samples }))
  fs.writeFileSync(options.json, `${JSON.stringify({ settings, samples }, null, 2)}\n`)
}
