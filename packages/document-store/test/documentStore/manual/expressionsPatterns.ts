import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, type Each, each, pagesOf, runs } from "./expressionsPage.ts"

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

const asked = comments.map((document) =>
  document._id === 3 ? { _id: 3, comment: "I can't find how to convert a date to string. cam@mongodb.com" } : document
)

const people = [
  { _id: 1, name: "Aunt Arc Tikka", details: ["+672-19-9999", "aunt.arc.tica@example.com"] },
  { _id: 2, name: "Belle Gium", details: ["+32-2-111-11-11", "belle.gium@example.com"] },
  { _id: 3, name: "Cam Bo Dia", details: ["+855-012-000-0000", "cam.bo.dia@example.com"] },
  { _id: 4, name: "Fred", details: ["+1-111-222-3333"] }
]

const employees = [
  { _id: 1, name: "Aunt Arc Tikka", email: "aunt.tica@example.com" },
  { _id: 2, name: "Belle Gium", email: "belle.gium@example.com" },
  { _id: 3, name: "Cam Bo Dia", email: "cam.dia@example.com" },
  { _id: 4, name: "Fred" }
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
        [/line/m, undefined, line],
        [/line/, "m", line],
        ["line", "m", line],
        [/line/, "x", line],
        ["line", "x", line],
        [/^s/im, undefined, [[match("S", 0)], [match("s", 12)], [], [], [], []]],
        [/lin(e|k) # matches line or link/, "x", lineOrLink],
        ["lin(e|k) # matches line or link", "x", lineOrLink],
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

  const address = /[a-z0-9_.+-]+@[a-z0-9_.+-]+\.[a-z0-9_.+-]+/i
  const local = /([a-z0-9_.+-]+)@[a-z0-9_.+-]+\.[a-z0-9_.+-]+/i

  page(
    "parsing texts by $regexFind",
    each(asked, [[{ $regexFind: { input: "$comment", regex: address } }, [
      match("aunt.arc.tica@example.com", 38),
      null,
      match("cam@mongodb.com", 46),
      match("fred@MongoDB.com", 28)
    ]]]),
    runs(asked, [[
      [{ $addFields: { email: { $regexFind: { input: "$comment", regex: address } } } }, {
        $set: { email: "$email.match" }
      }, { $project: { email: 1 } }],
      [
        { _id: 1, email: "aunt.arc.tica@example.com" },
        { _id: 2 },
        { _id: 3, email: "cam@mongodb.com" },
        { _id: 4, email: "fred@MongoDB.com" }
      ]
    ]]),
    runs(people, [[
      [
        { $unwind: "$details" },
        {
          $addFields: {
            regexemail: {
              $regexFind: {
                input: "$details",
                regex: /^[a-z0-9_.+-]+@[a-z0-9_.+-]+\.[a-z0-9_.+-]+$/,
                options: "i"
              }
            },
            regexphone: { $regexFind: { input: "$details", regex: /^[+]{0,1}[0-9]*-?[0-9_-]+$/ } }
          }
        },
        { $project: { _id: 1, name: 1, details: { email: "$regexemail.match", phone: "$regexphone.match" } } },
        { $group: { _id: "$_id", name: { $first: "$name" }, details: { $mergeObjects: "$details" } } },
        { $sort: { _id: 1 } }
      ],
      people.map(({ _id, name, details: [phone, email] }) => ({
        _id,
        name,
        details: email === undefined ? { phone } : { phone, email }
      }))
    ]]),
    runs(employees, [[
      [
        {
          $addFields: {
            username: {
              $regexFind: {
                input: "$email",
                regex: /^([a-z0-9_.+-]+)@[a-z0-9_.+-]+\.[a-z0-9_.+-]+$/,
                options: "i"
              }
            }
          }
        },
        { $set: { username: { $arrayElemAt: ["$username.captures", 0] } } }
      ],
      employees.map((employee, index) => ({
        ...employee,
        username: ["aunt.tica", "belle.gium", "cam.dia", null][index]
      }))
    ]])
  )

  page(
    "parsing texts by $regexFindAll",
    each(comments, [
      [{ $regexFindAll: { input: "$comment", regex: address } }, [
        [match("aunt.arc.tica@example.com", 38)],
        [],
        [match("cam@mongodb.com", 56), match("c.dia@mongodb.com", 75)],
        [match("fred@MongoDB.com", 28)]
      ]],
      [{ $regexFindAll: { input: "$comment", regex: local } }, [
        [match("aunt.arc.tica@example.com", 38, "aunt.arc.tica")],
        [],
        [match("cam@mongodb.com", 56, "cam"), match("c.dia@mongodb.com", 75, "c.dia")],
        [match("fred@MongoDB.com", 28, "fred")]
      ]]
    ]),
    runs(comments, [
      [
        [{ $addFields: { email: { $regexFindAll: { input: "$comment", regex: address } } } }, {
          $set: { email: "$email.match" }
        }, { $project: { email: 1 } }],
        [
          { _id: 1, email: ["aunt.arc.tica@example.com"] },
          { _id: 2, email: [] },
          { _id: 3, email: ["cam@mongodb.com", "c.dia@mongodb.com"] },
          { _id: 4, email: ["fred@MongoDB.com"] }
        ],
        "pathsThroughLists"
      ],
      [
        [
          { $addFields: { names: { $regexFindAll: { input: "$comment", regex: local } } } },
          {
            $project: {
              names: {
                $reduce: { input: "$names.captures", initialValue: [], in: { $concatArrays: ["$$value", "$$this"] } }
              }
            }
          }
        ],
        [
          { _id: 1, names: ["aunt.arc.tica"] },
          { _id: 2, names: [] },
          { _id: 3, names: ["cam", "c.dia"] },
          { _id: 4, names: ["fred"] }
        ],
        "pathsThroughLists"
      ]
    ])
  )
}
