import type { Differs } from "../../../../support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, type Each, each, pagesOf } from "./expressionsPage.ts"

const texts = [
  "Single LINE description.",
  "First lines\nsecond line",
  "Many spaces before     line",
  "Multiple\nline descriptions",
  "anchors, links and hyperlinks",
  "métier work vocation"
]
const products = texts.map((description, index) => ({ _id: index + 1, description }))

const contacts = [
  { _id: 1, fname: "Carol", phone: "718-555-0113" },
  { _id: 2, fname: "Daryl", phone: "212-555-8832" },
  { _id: 3, fname: "Polly", phone: "208-555-1932" },
  { _id: 4, fname: "Colleen", phone: "775-555-0187" },
  { _id: 5, fname: "Luna", phone: "917-555-4414" }
]

const comments = [
  { _id: 1, comment: "Hi, I'm just reading about MongoDB -- aunt.arc.tica@example.com" },
  { _id: 2, comment: "I wanted to concatenate a string" },
  {
    _id: 3,
    comment: "How do I convert a date to string? Contact me at either cam@mongodb.com or c.dia@mongodb.com"
  },
  { _id: 4, comment: "It's just me. I'm testing.  fred@MongoDB.com" }
]

const match = (match: string, idx: number, ...captures: ReadonlyArray<string | null>) => ({ match, idx, captures })
type Match = ReturnType<typeof match>

/** A pattern, its options, and what the manual finds in each of the texts. */
type Row = readonly [regex: RegExp | string, options: string | undefined, found: ReadonlyArray<ReadonlyArray<Match>>]

/** What the three operators answer, of which the manual shows the same finds. */
const operators = (input: string, rows: ReadonlyArray<Row>): ReadonlyArray<Each> =>
  rows.flatMap(([regex, options, found]): ReadonlyArray<Each> => {
    const operand = { input, regex, ...(options === undefined ? {} : { options }) }
    return [
      [{ $regexFindAll: operand }, found],
      [{ $regexFind: operand }, found.map(([first]) => first ?? null)],
      [{ $regexMatch: operand }, found.map(({ length }) => length > 0)]
    ]
  })

/** The manual's pages of patterns. */
export const patternPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)
  const line = [[], [match("line", 6), match("line", 19)], [match("line", 23)], [match("line", 9)], [], []]
  const lineOrLink = [
    [],
    [match("line", 6, "e"), match("line", 19, "e")],
    [match("line", 23, "e")],
    [match("line", 9, "e")],
    [match("link", 9, "k"), match("link", 24, "k")],
    []
  ]
  const anyLine = [[match("LINE", 7)], ...line.slice(1)]

  const spaced = (regex: string) => ({ $regexMatch: { input: "a b", regex, options: "x" } })

  page(
    "the option x",
    constants([
      [spaced("^ a \\  b $ # all of it"), true],
      [spaced("^a b$"), false],
      [spaced("^a[ #]b$"), true],
      [spaced("^a[^ ]b$"), false],
      [spaced("^a[] #]b$"), true],
      [spaced("^a[[:space:] #]b # a space\n$"), true, "namedClasses"],
      [spaced("^a # a space\n \\s b$"), true]
    ])
  )

  page(
    "$regexFind, $regexFindAll and $regexMatch",
    each(
      products,
      operators("$description", [
        [/line/, undefined, line],
        [/lin(e|k)/, undefined, lineOrLink],
        [/tier/, undefined, [[], [], [], [], [], [match("tier", 2)]]],
        [/line/i, undefined, anyLine],
        [/line/, "i", anyLine],
        ["line", "i", anyLine],
        [/^s/im, undefined, [[match("S", 0)], [match("s", 12)], [], [], [], []]],
        [/lin(e|k) # matches line or link/, "x", lineOrLink],
        [/m.*line/, "si", [
          [],
          [],
          [match("Many spaces before     line", 0)],
          [match("Multiple\nline", 0)],
          [],
          []
        ]]
      ])
    ),
    each(
      [{ _id: 1, category: "café" }, { _id: 2, category: "cafe" }, { _id: 3, category: "cafE" }],
      operators("$category", [[/cafe/, undefined, [[], [match("cafe", 0)], []]]])
    ),
    each(contacts, [
      ...operators("$fname", [
        [/(C(ar)*)ol/, undefined, [[match("Carol", 0, "Car", "ar")], [], [], [match("Col", 0, "C", null)], []]]
      ]),
      ...operators("$phone", [[/^(718).*|^(212).*|^(917).*/, undefined, [
        [match("718-555-0113", 0, "718", null, null)],
        [match("212-555-8832", 0, null, "212", null)],
        [],
        [],
        [match("917-555-4414", 0, null, null, "917")]
      ]]])
    ]),
    each(comments, [
      [{ $regexFind: { input: "$comment", regex: /[a-z0-9_.+-]+@[a-z0-9_.+-]+\.[a-z0-9_.+-]+/i } }, [
        match("aunt.arc.tica@example.com", 38),
        null,
        match("cam@mongodb.com", 56),
        match("fred@MongoDB.com", 28)
      ]],
      [
        {
          $cond: {
            if: { $regexMatch: { input: "$comment", regex: /[a-z0-9_.+-]+@mongodb.com/i } },
            then: "Employee",
            else: "External"
          }
        },
        ["External", "External", "Employee", "Employee"]
      ]
    ])
  )
}
