import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Result, Schema } from "effect"
import * as iso from "../../../src/Model/codec/dateTexts.ts"
import { Model } from "../../../src/Model/index.ts"

/** The ISO text in UTC of what a caller's text stands for; `undefined` when it is refused. */
const readBy = (schema: Model.Temporal) => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema))
  return (input: unknown): string | undefined =>
    Result.getOrUndefined(Result.map(decode(input), (moment) => DateTime.formatIso(moment)))
}

const writeBy = (schema: Model.Temporal) => {
  const encode = Schema.encodeSync(Schema.toCodecJson(schema))
  return (moment: DateTime.Utc): string => {
    const text = encode(moment)
    assert.isString(text)
    return text as string // as was asserted
  }
}

const moments = Arbitrary.schema(Schema.toType(Model.DateTime))

describe("Model.DateTime", () => {
  const read = readBy(Model.DateTime)
  const write = writeBy(Model.DateTime)

  it("reads ISO 8601 without a zone as UTC", () => {
    assert.strictEqual(read("2026-01-31T09:30:00"), "2026-01-31T09:30:00.000Z")
    assert.strictEqual(read("2026-01-31 09:30:00"), "2026-01-31T09:30:00.000Z")
    assert.strictEqual(read("2026-01-31T09:30"), "2026-01-31T09:30:00.000Z")
  })

  it("reads zones and offsets", () => {
    const cases: { readonly [text: string]: string } = {
      "2026-01-31T09:30:00Z": "2026-01-31T09:30:00.000Z",
      "2026-01-31T09:30:00z": "2026-01-31T09:30:00.000Z",
      "2026-01-31T09:30:00+00:00": "2026-01-31T09:30:00.000Z",
      "2026-01-31T09:30:00+01:00": "2026-01-31T08:30:00.000Z",
      "2026-01-31T09:30:00-0530": "2026-01-31T15:00:00.000Z",
      "2026-12-31T23:30:00-01:00": "2027-01-01T00:30:00.000Z",
      "2026-03-01T00:30:00+01:00": "2026-02-28T23:30:00.000Z"
    }
    for (const [text, iso] of Object.entries(cases)) assert.strictEqual(read(text), iso, text)
  })

  it("reads up to nine fraction digits, and cuts them to milliseconds", () => {
    const cases: { readonly [digits: string]: string } = {
      "1": "100",
      "12": "120",
      "123": "123",
      "1239": "123",
      "123999": "123",
      "000999999": "000"
    }
    for (const [digits, millis] of Object.entries(cases)) {
      assert.strictEqual(read(`2026-01-31T09:30:00.${digits}`), `2026-01-31T09:30:00.${millis}Z`, digits)
      assert.strictEqual(read(`2026-01-31T09:30:00.${digits}Z`), `2026-01-31T09:30:00.${millis}Z`, digits)
    }
  })

  it("recognises leap years", () => {
    assert.strictEqual(read("2024-02-29T00:00:00"), "2024-02-29T00:00:00.000Z")
    assert.strictEqual(read("2000-02-29T00:00:00"), "2000-02-29T00:00:00.000Z")
    assert.isUndefined(read("2026-02-29T00:00:00"))
    assert.isUndefined(read("1900-02-29T00:00:00"))
  })

  it("rejects text that is no date-time", () => {
    const wrong = [
      "",
      "now",
      "2026-01-31",
      "2026-1-31T09:30:00",
      "2026-02-30T09:30:00",
      "2026-04-31T09:30:00",
      "2026-13-01T09:30:00",
      "2026-00-01T09:30:00",
      "2026-01-00T09:30:00",
      "2026-01-31T24:00:00",
      "2026-01-31T09:60:00",
      "2026-01-31T09:30:60",
      "2026-01-31T09:30:00.",
      "2026-01-31T09:30:00.1234567890",
      "2026-01-31T09:30:00+24:00",
      "2026-01-31T09:30:00+01:60",
      "2026-01-31T09:30:00 Z",
      " 2026-01-31T09:30:00",
      "2026-01-31T09:30:00\n",
      "２０２６-01-31T09:30:00",
      "+012026-01-31T09:30:00",
      "9999-12-31T23:59:59-00:01",
      "0000-01-01T00:00:00+00:01",
      1_769_851_800_000,
      null
    ]
    for (const text of wrong) assert.isUndefined(read(text), String(text))
  })

  it("reports the expectation without the value", () => {
    const refused = Schema.decodeUnknownResult(Schema.toCodecJson(Model.DateTime))("tomorrow")
    assert.isTrue(Result.isFailure(refused) && refused.failure.message === "Expected an ISO 8601 date-time")
  })

  it("writes UTC without zone and with microseconds", () => {
    assert.strictEqual(write(DateTime.makeUnsafe("2026-01-31T09:30:00.123Z")), "2026-01-31T09:30:00.123000")
    assert.strictEqual(write(DateTime.makeUnsafe(0)), "1970-01-01T00:00:00.000000")
    assert.strictEqual(write(DateTime.makeUnsafe(-1)), "1969-12-31T23:59:59.999000")
    assert.strictEqual(write(DateTime.makeUnsafe("0000-01-01T00:00:00Z")), "0000-01-01T00:00:00.000000")
    assert.strictEqual(write(DateTime.makeUnsafe("9999-12-31T23:59:59.999Z")), "9999-12-31T23:59:59.999000")
  })

  it.prop("reads what it writes, and writes as JavaScript does", [moments], ([moment]) => {
    const text = write(moment)
    assert.strictEqual(text, `${DateTime.formatIso(moment).slice(0, -1)}000`)
    assert.strictEqual(read(text), DateTime.formatIso(moment))
    assert.strictEqual(read(`${text}Z`), DateTime.formatIso(moment))
  }, { arbitrary: { runs: 1000 } })

  it.prop("is stored as a date of milliseconds", [moments], ([moment]) => {
    const stored = Schema.encodeSync(Model.DateTime)(moment)
    assert.instanceOf(stored, Date)
    assert.strictEqual(stored.getTime(), moment.epochMilliseconds)
    assert.deepStrictEqual(Schema.decodeSync(Model.DateTime)(stored), moment)
  })

  it.effect("accepts only years of four digits", () =>
    Effect.gen(function*() {
      class Event extends Model.Class<Event>()("Event", { at: Model.DateTime }) {}
      for (const millis of [-62_167_219_200_001, 253_402_300_800_000]) {
        const error = yield* Effect.flip(Model.finalise(Event, { at: DateTime.makeUnsafe(millis) }))
        assert.deepStrictEqual({ ...error.problems[0] }, {
          field: "at",
          validator: "Type",
          message: "must be a year from 0000 to 9999"
        })
        assert.throws(() => Schema.decodeSync(Model.DateTime)(new Date(millis)))
      }
      assert.throws(() => Schema.decodeSync(Model.DateTime)(new Date(Number.NaN)))
    }))
})

describe("Model.Date", () => {
  const read = readBy(Model.Date)
  const write = writeBy(Model.Date)

  it("reads and writes calendar dates, at midnight", () => {
    assert.strictEqual(read("2024-02-29"), "2024-02-29T00:00:00.000Z")
    assert.strictEqual(write(DateTime.makeUnsafe("2024-02-29T00:00:00Z")), "2024-02-29")
    assert.strictEqual(write(DateTime.makeUnsafe("0000-03-01T00:00:00Z")), "0000-03-01")
  })

  it("rejects text that is no date", () => {
    const wrong = ["", "2026-02-29", "2026-06-31", "2026-1-1", "31.01.2026", "2026-01-31T00:00:00", "20260131", 0, null]
    for (const text of wrong) assert.isUndefined(read(text), String(text))
  })

  it("cuts the time of day off when encoding and when decoding", () => {
    const noon = new Date("1969-07-20T12:00:00Z")
    assert.deepStrictEqual(Schema.encodeSync(Model.Date)(DateTime.makeUnsafe(noon)), new Date("1969-07-20"))
    assert.deepStrictEqual(Schema.decodeSync(Model.Date)(noon), DateTime.makeUnsafe("1969-07-20T00:00:00Z"))
  })

  it.prop("reads what it writes, on the same day", [moments], ([moment]) => {
    const text = write(moment)
    assert.strictEqual(text, DateTime.formatIsoDateUtc(moment))
    assert.strictEqual(read(text), `${text}T00:00:00.000Z`)
  }, { arbitrary: { runs: 1000 } })
})

const pattern = new RegExp(
  [
    /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d)/u,
    /(?:(:[0-5]\d)(?:\.(\d{1,9}))?)?/u,
    /(?:[Zz]|([+-](?:[01]\d|2[0-3])):?([0-5]\d))?$/u
  ].map(({ source }) => source).join(""),
  "u"
)

/** Read by JavaScript, which would take the 30th of February for a day of March. */
const midnightOf = (date: string): number | undefined => {
  const midnight = new Date(`${date}T00:00:00Z`)
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(`${date}T`)
  return isDay ? midnight.getTime() : undefined
}

const readByPattern = (text: string): number | undefined => {
  const [, date = "", time, seconds = ":00", fraction = "", zoneHours = "+00", zoneMinutes = "00"] =
    pattern.exec(text) ?? []
  const millis = fraction.padEnd(3, "0").slice(0, 3)
  return midnightOf(date) === undefined
    ? undefined
    : Date.parse(`${date}T${time}${seconds}.${millis}${zoneHours}:${zoneMinutes}`)
}

const oneOf = (...texts: ReadonlyArray<string>) => Arbitrary.schema(Schema.Literals(texts))

const number = (width: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))).pipe(
    Arbitrary.map((n) => String(n).padStart(width, "0"))
  )

/** Nearly all have the right characters in the right places; most numbers are ones that there are. */
const texts = Arbitrary.all([
  number(4, 9999),
  oneOf("-01-", "-02-", "-04-", "-12-", "-13-", "-00-", "/02/", "-2-"),
  oneOf("01", "28", "29", "30", "31", "32", "00"),
  oneOf("T", " ", "t", ""),
  number(2, 24),
  oneOf(":00", ":59", ":60", "00", ":"),
  oneOf("", ":00", ":59", ":60", ":07.", ":07.1", ":07.12", ":07.123456789", ":07.1234567890", ".5", ":٣٣"),
  oneOf("", "Z", "z", "+01:00", "-0130", "-00:00", "+23:59", "+24:00", "-12:60", "+1:00", "+01", " Z", "ZZ", "+٣٣:00"),
  number(1, 60)
]).pipe(Arbitrary.map(([...parts]) => {
  const text = parts.slice(0, -1).join("")
  const at = Number(parts.at(-1))
  return at < text.length ? [text, `${text.slice(0, at)}x${text.slice(at + 1)}`, text.slice(0, at)] : [text]
}))

describe("the parsers and printers of dates", () => {
  it.prop("read the text that a pattern accepts as JavaScript does", [texts], ([texts]) => {
    for (const text of texts) {
      assert.strictEqual(iso.parseDateTime(text), readByPattern(text), text)
      const date = text.slice(0, 10)
      assert.strictEqual(iso.parseDate(date), /^\d{4}-\d\d-\d\d$/u.test(date) ? midnightOf(date) : undefined, date)
    }
  }, { arbitrary: { runs: 20_000 } })

  it("read and write every day of the years 1600 to 2399, and the first and last day of each month of 0000 to 9999", () => {
    const assertAt = (time: number): void => {
      const day = new Date(time)
      const text = iso.formatDate(day)
      // An assertion for each of them would take too long.
      if (text !== day.toISOString().slice(0, 10)) assert.fail(`${text} for ${day.toISOString()}`)
      if (iso.parseDate(text) !== time) assert.fail(`${text} is read as ${iso.parseDate(text)}`)
    }
    const day = 86_400_000
    // Two of the 400 years after which the calendar repeats: one before 1970 in part, and one after it.
    for (let time = Date.UTC(1600, 0); time < Date.UTC(2400, 0); time += day) assertAt(time)
    const month = new Date(iso.earliest)
    for (; month.getTime() <= iso.latest; month.setUTCMonth(month.getUTCMonth() + 1)) {
      assertAt(month.getTime())
      if (month.getTime() > iso.earliest) assertAt(month.getTime() - day)
    }
    assert.strictEqual(month.getTime(), iso.latest + 1)
    assertAt(month.getTime() - day)
  })

  it("know how long each month is", () => {
    for (let year = 0; year <= 9999; year++) {
      const day = new Date(Date.UTC(2000, 1, 29))
      day.setUTCFullYear(year)
      const isLeap = day.getUTCMonth() === 1
      const last = `${String(year).padStart(4, "0")}-02-29`
      if ((iso.parseDate(last) !== undefined) !== isLeap) assert.fail(last)
    }
    const tooLong = [
      "01-32",
      "02-30",
      "03-32",
      "04-31",
      "05-32",
      "06-31",
      "07-32",
      "08-32",
      "09-31",
      "10-32",
      "11-31",
      "12-32"
    ]
    for (const day of tooLong) assert.isUndefined(iso.parseDate(`2024-${day}`), day)
  })
})
