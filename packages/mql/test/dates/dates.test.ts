import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { addMonths, daysInMonth, isoWeekOf, localOf, partsOf, weekOfYear } from "../../src/dates/calendar.ts"
import { formatDateText, isoFormat, parseDateText, parseFormatted } from "../../src/dates/dateText.ts"
import { fromLocal, toLocal, utc, zoneOf } from "../../src/dates/timeZone.ts"
import { beginEvaluation, workOfEvaluation } from "../../src/limits/costBudget.ts"
import { catchRejection } from "../../src/limits/queryProblem.ts"

const time = Schema.Int.check(Schema.isBetween({ minimum: Date.UTC(1, 0, 1), maximum: Date.UTC(9999, 11, 31) }))
const recent = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Date.UTC(2100, 0, 1) }))
const zone = Schema.Literals([
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "-03:30"
])
const months = Schema.Int.check(Schema.isBetween({ minimum: -30_000, maximum: 30_000 }))

describe("dates", () => {
  it.effect.prop("have the parts that JavaScript's dates have, at any time", [time], ([local]) =>
    Effect.sync(() => {
      const date = new Date(local)
      const parts = partsOf(local)
      assert.deepStrictEqual(parts, {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
        hour: date.getUTCHours(),
        minute: date.getUTCMinutes(),
        second: date.getUTCSeconds(),
        millisecond: date.getUTCMilliseconds()
      })
      assert.strictEqual(localOf(parts), local)
    }))

  it.effect.prop(
    "have a week from 0 to 53, and an ISO week that begins on a Monday",
    [time],
    ([local]) =>
      Effect.sync(() => {
        assert.isTrue(weekOfYear(local) >= 0 && weekOfYear(local) <= 53)
        const { week, year } = isoWeekOf(local)
        const [next, before] = [isoWeekOf(local + 7 * 86_400_000), partsOf(local).year]
        assert.isTrue(Math.abs(year - before) <= 1)
        assert.isTrue(next.week === week + 1 || (next.week === 1 && week >= 52 && next.year === year + 1))
      })
  )

  it.effect.prop(
    "keep their day in any other month, or have its last",
    [recent, months],
    ([local, count]) =>
      Effect.sync(() => {
        const [before, after] = [partsOf(local), partsOf(addMonths(local, count))]
        assert.strictEqual(after.year * 12 + after.month, before.year * 12 + before.month + count)
        assert.strictEqual(after.day, Math.min(before.day, daysInMonth(after.year, after.month)))
        assert.strictEqual(after.millisecond, before.millisecond)
      })
  )

  it.effect.prop(
    "are found again by what a clock of any zone shows",
    [recent, zone],
    ([moment, name]) =>
      Effect.sync(() => {
        beginEvaluation()
        const place = zoneOf(name)
        const found = fromLocal(toLocal(moment, place), place)
        // A clock that is put back shows the same time twice.
        assert.strictEqual(toLocal(found, place), toLocal(moment, place))
        assert.isTrue(found === moment || (moment - found > 0 && moment - found <= 3_600_000))
      })
  )

  it.effect.prop("are read as they are written", [time, zone], ([moment, name]) =>
    Effect.sync(() => {
      beginEvaluation()
      assert.strictEqual(parseDateText(formatDateText(moment, utc, isoFormat(utc)), undefined), moment)
      const whole = moment - (((moment % 60_000) + 60_000) % 60_000)
      const recentWhole = Math.abs(whole) % Date.UTC(2100, 0, 1)
      for (
        const format of ["%Y-%m-%d %H:%M:%S.%L %z", "%G-W%V-%u %H:%M:%S.%L%z", "%Y %j %H%M%S%L%z", "%d %B %Y %H:%M %z"]
      ) {
        const minute = recentWhole - recentWhole % 60_000
        const text = formatDateText(minute, zoneOf(name), format)
        assert.strictEqual(parseFormatted(text, format, undefined), minute, text)
      }
    }))

  it("count the making of a zone once, whether there is one or not", () => {
    const workOf = (id: string) => {
      beginEvaluation()
      catchRejection(() => zoneOf(id))
      return workOfEvaluation()
    }
    for (const name of ["Asia/Kathmandu", "Asia/Nowhere"]) {
      assert.isAbove(workOf(name), 1000)
      assert.strictEqual(workOf(name), 0)
      assert.strictEqual(workOf(name.toUpperCase()), 0)
    }
    assert.isTrue(Result.isFailure(catchRejection(() => zoneOf("ASIA/NOWHERE"))))
    assert.strictEqual(workOf("x".repeat(1_000_000)), 0)
    assert.isTrue(Result.isFailure(catchRejection(() => zoneOf("x".repeat(1_000_000)))))
  })

  it("limit how many zones an evaluation looks for", () => {
    beginEvaluation()
    const tried = Array.from({ length: 3000 }, (_, i) => catchRejection(() => zoneOf(`Mars/Crater${i}`)))
    const messages = new Set(tried.map((result) => Result.isFailure(result) ? result.failure.text.slice(0, 20) : ""))
    assert.deepStrictEqual(Array.from(messages), ["there is no time zon", "an expression has to"])
    beginEvaluation()
    assert.isFalse(zoneOf("Europe/Vienna").isUtc)
  })

  it("count what a text without a format takes to read", () => {
    const workOf = (text: string) => {
      beginEvaluation()
      catchRejection(() => parseDateText(text, undefined))
      return workOfEvaluation()
    }
    assert.isBelow(workOf("1996-01-31"), 100)
    assert.isAbove(workOf("wed jan 31 12:05:28 +03:30 1996"), 500)
    assert.isAbove(workOf(" a".repeat(45)), 1000)
  })

  it("skip an hour in spring and repeat one in autumn", () => {
    const berlin = zoneOf("Europe/Berlin")
    const at = (text: string) => fromLocal(Date.parse(`${text}Z`), berlin)
    assert.strictEqual(at("2024-03-31T02:30:00"), Date.parse("2024-03-31T01:30:00Z"))
    assert.strictEqual(at("2024-10-27T02:30:00"), Date.parse("2024-10-27T00:30:00Z"))
  })
})
