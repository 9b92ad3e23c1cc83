import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { type Constant, constants, date, each, pagesOf, rejected } from "./expressionsPage.ts"

/** What the table of a part of dates has for each of its dates, in the order of {@link partDates}. */
type Parts = readonly [number, number, number, number, number]

/** The dates of the tables: 1 January 2016, 7 January 2003, 14 August 2011 in Chicago, 7 November 1998, and it 4 hours west. */
const partDates = [
  date("2016-01-01T00:00:00Z"),
  { date: date("2003-01-07T00:00:00Z") },
  { date: date("2011-08-14T05:00:00Z"), timezone: "America/Chicago" },
  date("1998-11-07T00:00:00Z"),
  { date: date("1998-11-07T00:00:00Z"), timezone: "-0400" }
]

const dateParts: ReadonlyArray<readonly [operator: string, ofSale: number, parts: Parts]> = [
  ["$year", 2014, [2016, 2003, 2011, 1998, 1998]],
  ["$month", 1, [1, 1, 8, 11, 11]],
  ["$dayOfMonth", 1, [1, 7, 14, 7, 6]],
  ["$dayOfYear", 1, [1, 7, 226, 311, 310]],
  ["$dayOfWeek", 4, [6, 3, 1, 7, 6]],
  ["$isoDayOfWeek", 3, [5, 2, 7, 6, 5]],
  ["$week", 0, [0, 1, 33, 44, 44]],
  ["$millisecond", 736, [0, 0, 0, 0, 0]]
]

/** The tables of other dates. The manual's dates without a zone are those of a shell in UTC. */
const otherParts: ReadonlyArray<readonly [operator: string, ofSale: number, rows: ReadonlyArray<Constant>]> = [
  ["$hour", 8, [
    [date("2016-01-01T12:00:00Z"), 12],
    [{ date: date("2003-01-07T00:00:00Z") }, 0],
    // The page has 18: Chicago is 5 hours west of UTC in summer.
    [{ date: date("2011-08-14T00:00:00Z"), timezone: "America/Chicago" }, 19],
    [date("2017-10-19T00:00:00Z"), 0],
    [{ date: date("2017-10-19T00:00:00Z"), timezone: "+0530" }, 5]
  ]],
  ["$minute", 15, [
    [date("2016-01-01T12:01:00Z"), 1],
    [{ date: date("2003-01-07T00:00:00Z") }, 0],
    [{ date: date("2016-01-01T12:01:00Z"), timezone: "Canada/Newfoundland" }, 31],
    [{ date: date("1998-11-07T00:40:00Z"), timezone: "+0530" }, 10]
  ]],
  ["$second", 39, [
    [date("2012-11-06T00:14:20Z"), 20],
    [{ date: date("2003-01-07T00:00:00Z") }, 0],
    [{ date: date("2011-08-14T00:00:00Z"), timezone: "America/Chicago" }, 0],
    [date("1998-11-07T00:00:42Z"), 42],
    [{ date: date("1998-11-07T00:00:09Z"), timezone: "+0530" }, 9]
  ]],
  ["$isoWeek", 1, [
    [{ date: date("2016-01-04T00:00:00Z") }, 1],
    [date("2016-01-01T00:00:00Z"), 53],
    [{ date: date("2011-08-14T05:00:00Z"), timezone: "America/Chicago" }, 32],
    [date("1998-11-02T00:00:00Z"), 45],
    [{ date: date("1998-11-02T00:00:00Z"), timezone: "-0500" }, 44]
  ]],
  ["$isoWeekYear", 2014, [
    [date("2015-05-26T00:00:00Z"), 2015],
    [{ date: date("2003-01-07T00:00:00Z") }, 2003],
    [date("2017-01-02T00:00:00Z"), 2017],
    [{ date: date("2017-01-02T00:00:00Z"), timezone: "-0500" }, 2016],
    [{ date: date("2024-04-08T05:00:00Z"), timezone: "America/Chicago" }, 2024]
  ]]
]

const sale = [{ _id: 1, date: date("2014-01-01T08:15:39.736Z") }]

const noDates = (operator: string): ReadonlyArray<Constant> =>
  ["March 28, 1976", "2009-04-09", String(new Date(0))].map((text) => [{ [operator]: text }, rejected])

/** The manual's pages of date operators: parts and texts. */
export const datePages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "the parts of dates",
    constants(dateParts.flatMap(([operator, , parts]): ReadonlyArray<Constant> => [
      ...partDates.map((value, index): Constant => [{ [operator]: value }, parts[index]]),
      ...noDates(operator)
    ])),
    constants(otherParts.flatMap(([operator, , rows]): ReadonlyArray<Constant> => [
      ...rows.map(([value, part]): Constant => [{ [operator]: value }, part]),
      ...noDates(operator)
    ])),
    each(sale, [...dateParts, ...otherParts].map(([operator, ofSale]) => [{ [operator]: "$date" }, [ofSale]] as const)),
    each([{ _id: 1, date: date("2006-10-24T00:00:00Z") }, { _id: 2, date: date("2011-08-18T00:00:00Z") }], [
      [{ $isoWeek: "$date" }, [43, 33]]
    ]),
    each([{ _id: 1, date: date("1993-09-21T00:00:00Z") }, { _id: 2, date: date("1981-11-07T00:00:00Z") }], [
      [{ $isoDayOfWeek: "$date" }, [2, 6]]
    ]),
    each(["2016-01-01", "2016-01-04", "2015-01-01", "2014-04-21"].map((day, _id) => ({ _id, date: date(day) })), [
      [{ $isoWeekYear: "$date" }, [2015, 2016, 2015, 2014]]
    ])
  )

  const written = (format: string, timezone?: string) => ({
    $dateToString: { format, date: "$date", ...(timezone === undefined ? {} : { timezone }) }
  })

  page(
    "$dateToString",
    each(sale, [
      [written("%Y-%m-%d"), ["2014-01-01"]],
      [written("%H:%M:%S:%L%z", "America/New_York"), ["03:15:39:736-0500"]],
      [written("%H:%M:%S:%L%z", "+04:30"), ["12:45:39:736+0430"]],
      [written("%Z", "America/New_York"), ["-300"]],
      [written("%Z", "+04:30"), ["270"]],
      [written("%b", "+04:30"), ["Jan"], "namedMonths"],
      [written("%B", "+04:30"), ["January"], "namedMonths"]
    ])
  )

  const read = (dateString: unknown, more: Document = {}) => ({ $dateFromString: { dateString, ...more } })

  page(
    "$dateFromString",
    constants([
      [read("2017-02-08T12:10:40.787"), date("2017-02-08T12:10:40.787Z")],
      [read("2017-02-08T12:10:40.787", { timezone: "America/New_York" }), date("2017-02-08T17:10:40.787Z")],
      [read("2017-02-08"), date("2017-02-08T00:00:00Z")],
      [read("oct 20 2020"), date("2020-10-20T00:00:00Z"), "namedMonths"],
      [read("WED jan 31 12:05:28 +03:30 1996"), date("1996-01-31T08:35:28Z"), "namedMonths"],
      [read("oct 32 2020"), rejected],
      [read("oct nov 20 2020"), rejected],
      [read("06-15-2018", { format: "%m-%d-%Y" }), date("2018-06-15T00:00:00Z")],
      [read("15-06-2018", { format: "%d-%m-%Y" }), date("2018-06-15T00:00:00Z")],
      [read("2017-02-08T12:10:40.787Z", { timezone: "America/New_York" }), rejected]
    ]),
    each([
      { _id: 1, date: "2017-02-08T12:10:40.787", timezone: "America/New_York" },
      { _id: 2, date: "2017-02-08", timezone: "-05:00" },
      { _id: 3 },
      { _id: 4, date: "2017-02-09", timezone: "Europe/London" },
      { _id: 5, date: "2017-02-09T03:35:02.055", timezone: "+0530" }
    ], [
      [read("$date", { timezone: "America/New_York" }), [
        date("2017-02-08T17:10:40.787Z"),
        date("2017-02-08T05:00:00Z"),
        null,
        date("2017-02-09T05:00:00Z"),
        date("2017-02-09T08:35:02.055Z")
      ]],
      [read("$date", { timezone: "$timezone" }), [
        date("2017-02-08T17:10:40.787Z"),
        date("2017-02-08T05:00:00Z"),
        null,
        date("2017-02-09T00:00:00Z"),
        date("2017-02-08T22:05:02.055Z")
      ], "timeZoneExpression"]
    ]),
    each([
      { _id: 1, date: "2017-02-08T12:10:40.787", timezone: "America/New_York" },
      { _id: 2, date: "20177-02-09T03:35:02.055", timezone: "America/New_York" }
    ], [
      [read("$date", { timezone: "$timezone", onError: "$date" }), [
        date("2017-02-08T17:10:40.787Z"),
        "20177-02-09T03:35:02.055"
      ], "timeZoneExpression"],
      [read("$date", { timezone: "$timezone" }), rejected]
    ]),
    each([
      { _id: 1, date: "2017-02-08T12:10:40.787", timezone: "America/New_York" },
      { _id: 2, date: null, timezone: "America/New_York" }
    ], [
      [read("$date", { timezone: "$timezone", onNull: new Date(0) }), [
        date("2017-02-08T17:10:40.787Z"),
        new Date(0)
      ], "timeZoneExpression"]
    ])
  )

  page(
    "$dateFromParts",
    constants([
      [{ $dateFromParts: { year: 2017, month: 14, day: 1, hour: 12 } }, date("2018-02-01T12:00:00Z")],
      [{ $dateFromParts: { year: 2017, month: 0, day: 1, hour: 12 } }, date("2016-12-01T12:00:00Z")],
      [{ $dateFromParts: { year: 2017, month: 2, day: 8, hour: 12 } }, date("2017-02-08T12:00:00Z")],
      [{ $dateFromParts: { isoWeekYear: 2017, isoWeek: 6, isoDayOfWeek: 3, hour: 12 } }, date("2017-02-08T12:00:00Z")],
      [
        {
          $dateFromParts: {
            year: 2016,
            month: 12,
            day: 31,
            hour: 23,
            minute: 46,
            second: 12,
            timezone: "America/New_York"
          }
        },
        date("2017-01-01T04:46:12Z")
      ],
      [{ $dateFromParts: { year: 2017, second: 86_400, millisecond: -100_000 } }, date("2017-01-01T23:58:20Z")],
      [{ $dateFromParts: { year: 2017, isoWeek: 6 } }, rejected],
      [{ $dateFromParts: { year: 0 } }, rejected],
      [{ $dateFromParts: { year: 10000 } }, rejected]
    ])
  )

  const time = { minute: 29, second: 9, millisecond: 123 }

  page(
    "$dateToParts",
    each([{ _id: 2, date: date("2017-01-01T01:29:09.123Z") }], [
      [{ $dateToParts: { date: "$date" } }, [{ year: 2017, month: 1, day: 1, hour: 1, ...time }]],
      [{ $dateToParts: { date: "$date", iso8601: true } }, [
        { isoWeekYear: 2016, isoWeek: 52, isoDayOfWeek: 7, hour: 1, ...time }
      ]],
      [{ $dateToParts: { date: "$date", timezone: "America/New_York" } }, [
        { year: 2016, month: 12, day: 31, hour: 20, ...time }
      ]]
    ])
  )
}
