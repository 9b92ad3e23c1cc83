import { Binary, Double, Timestamp, UUID } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, each, pagesOf, rejected, runs } from "./expressionsPage.ts"

const base64 = "hn3uUsMxSE6S0cVkebjmfg=="
const uuid = "867dee52-c331-484e-92d1-c56479b8e67e"
const binary = (text: string, subtype = 0) => Binary.createFromBase64(text, subtype)
const passage = "Man is distinguished, not only by his reason, but by this singular passion from other animals, "
  + "which is a lust of the mind, that by a perseverance of delight in the continued and indefatigable generation of "
  + "knowledge, exceeds the short vehemence of any carnal pleasure."

// The page's numbers are doubles, as an older shell writes them.
const double = (value: number) => new Double(value)

const employees = [
  {
    _id: 1,
    name: "Alice",
    email: "alice@company.com",
    position: "Software Developer",
    current_task: {
      project_id: double(1),
      project_name: "Aggregation Improvements",
      project_duration: double(5),
      hours: double(20)
    }
  },
  {
    _id: 2,
    name: "Bob",
    email: "bob@company.com",
    position: "Sales",
    current_task: {
      project_id: double(2),
      project_name: "Write Blog Posts",
      project_duration: double(2),
      hours: double(10),
      notes: "Progress is slow. Waiting for feedback."
    }
  },
  { _id: 3, name: "Charlie", email: "charlie@company.com", position: "HR (On Leave)", current_task: null },
  {
    _id: 4,
    name: "Dianne",
    email: "diane@company.com",
    position: "Web Designer",
    current_task: { project_id: double(3), project_name: "Update Home Page", notes: "Need to scope this project." }
  }
]

/** The manual's pages of binary data, of sizes, of timestamps and of random values. */
export const binaryPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)
  const toBinary = (input: unknown, to: unknown, format?: string) => ({
    $convert: { input, to, ...(format === undefined ? {} : { format }) }
  })

  page(
    "$convert from and to binary data",
    constants([
      [toBinary(base64, { type: "binData", subtype: 0 }, "base64"), binary(base64), "binaryTexts"],
      [toBinary(base64, "binData", "base64"), binary(base64), "binaryTexts"],
      [toBinary(uuid, { type: "binData", subtype: 0 }, "base64"), rejected, "binaryTexts"],
      [toBinary(base64, { type: "binData", subtype: 4 }, "base64"), rejected, "binaryTexts"],
      [toBinary(uuid, { type: "binData", subtype: 4 }, "uuid"), new UUID(uuid), "binaryTexts"],
      [toBinary("äöäöä", { type: "binData", subtype: 4 }, "uuid"), rejected, "binaryTexts"],
      [toBinary(uuid, { type: "binData" }, "uuid"), rejected, "binaryTexts"],
      [toBinary(123, { type: "binData", subtype: 0 }), rejected, "binaryTexts"],
      [{ $toUUID: uuid }, new UUID(uuid), "binaryTexts"],
      [{ $convert: { input: binary("hn3f", 4), to: "string", format: "base64" } }, "hn3f", "binaryTexts"],
      [{ $toString: binary("hn3f", 4) }, "hn3f", "binaryTexts"],
      [{ $toString: new UUID(uuid) }, uuid, "binaryTexts"],
      // The formats that the page names.
      [toBinary("hn3uUsMxSE6S0cVkebjmfg", "binData", "base64url"), binary(base64), "binaryTexts"],
      [toBinary("867dee", "binData", "hex"), binary("hn3u"), "binaryTexts"],
      [toBinary("é", "binData", "utf8"), binary("w6k="), "binaryTexts"],
      [toBinary(binary("w6k="), "string", "utf8"), "é", "binaryTexts"],
      [toBinary(binary("w6k="), "string"), rejected, "binaryTexts"],
      [toBinary(binary("gA=="), "string", "utf8"), rejected, "binaryTexts"],
      [{ $convert: { input: "?", to: "binData", format: "hex", onError: "none" } }, "none", "binaryTexts"],
      // As the server's own tests have them.
      [toBinary(binary("hn3u"), "string", "hex"), "867DEE", "binaryTexts"],
      [toBinary(new UUID(uuid), "string", "auto"), uuid, "binaryTexts"],
      [toBinary(binary(base64), "string", "auto"), base64, "binaryTexts"],
      [toBinary(base64, "binData", "auto"), rejected, "binaryTexts"],
      [toBinary(new UUID(uuid), { type: "binData", subtype: 4 }), new UUID(uuid), "binaryTexts"],
      [toBinary(new UUID(uuid), "binData"), rejected, "binaryTexts"],
      [toBinary(binary(base64), { type: "binData", subtype: 4 }), rejected, "binaryTexts"],
      [{ $convert: { input: new UUID(uuid), to: "binData", onError: "none" } }, "none", "binaryTexts"],
      [toBinary(base64, { type: "binData", subtype: 255 }, "base64"), binary(base64, 255), "binaryTexts"],
      ...[-1, 127, 256, 1000].map((subtype) =>
        [toBinary(base64, { type: "binData", subtype }, "base64"), rejected, "binaryTexts"] as const
      )
    ])
  )

  page(
    "$binarySize",
    constants([
      [{ $binarySize: "abcde" }, 5],
      [{ $binarySize: "Hello World!" }, 12],
      [{ $binarySize: "cafeteria" }, 9],
      [{ $binarySize: "cafétéria" }, 11],
      [{ $binarySize: "" }, 0],
      [{ $binarySize: { $literal: "$€λG" } }, 7],
      [{ $binarySize: "寿司" }, 6]
    ]),
    runs([
      { _id: 1, binary: binary("OEJTfmD8twzaj/LPKLIVkA==") },
      { _id: 2, binary: binary("aGVsZmRqYWZqYmxhaGJsYXJnYWZkYXJlcTU1NDE1Z2FmZCBmZGFmZGE=") },
      { _id: 3, binary: binary("MyIRAFVEd2aImaq7zN3u/w==") },
      { _id: 4, binary: new Binary(Buffer.from(passage)) },
      { _id: 5, binary: binary("") }
    ], [
      [
        [{ $project: { size: { $binarySize: "$binary" } } }, { $sort: { _id: 1 } }],
        [16, 41, 16, 269, 0].map((size, index) => ({ _id: index + 1, size }))
      ],
      [
        [{ $project: { size: { $binarySize: "$binary" } } }, { $sort: { size: -1 } }, { $limit: 1 }],
        [{ _id: 4, size: 269 }]
      ]
    ])
  )

  // The page has 7 bytes more for each document, and so 789 for all: 4 as its identifiers are doubles, and 3 that the
  // documents that it shows don't have.
  page(
    "$bsonSize",
    each(employees, [
      [{ $bsonSize: "$$ROOT" }, [215, 241, 105, 200]],
      [{ $bsonSize: "$current_task" }, [109, 152, null, 99]]
    ]),
    runs(employees, [
      [[{ $group: { _id: null, size: { $sum: { $bsonSize: "$$ROOT" } } } }], [{ _id: null, size: 761 }]],
      [
        [{ $project: { size: { $bsonSize: "$current_task" } } }, { $sort: { size: -1 } }, { $limit: 1 }],
        [{ _id: 2, size: 152 }]
      ]
    ])
  )

  const sold = [[1622731060, 1], [1622731060, 2], [1714124193, 1], [1714124193, 2], [1714124193, 3]]

  page(
    "$tsSecond and $tsIncrement",
    each(sold.map(([t = 0, i = 0], _id) => ({ _id, sale: new Timestamp({ t, i }) })), [
      [{ $tsSecond: "$sale" }, sold.map(([second]) => second)],
      [{ $tsIncrement: "$sale" }, sold.map(([, increment]) => increment)],
      [{ $type: { $tsSecond: "$sale" } }, sold.map(() => "long")],
      [{ $eq: [{ $mod: [{ $tsIncrement: "$sale" }, 2] }, 0] }, [false, true, false, true, false]]
    ]),
    constants([[{ $tsSecond: null }, null], [{ $tsIncrement: "$none" }, null], [{ $tsSecond: 1 }, rejected]])
  )

  // The pages of $subtype and $hexHash have no results at hand: these are those of their texts.
  page(
    "$createObjectId, $subtype and $hexHash",
    constants([
      [{ $type: { $createObjectId: {} } }, "objectId", "newOperators"],
      [{ $createObjectId: 1 }, rejected],
      [{ $subtype: new UUID(uuid) }, 4, "newOperators"],
      [{ $subtype: binary(base64, 5) }, 5, "newOperators"],
      [{ $subtype: "text" }, rejected],
      [{ $hexHash: { input: "abc", algorithm: "md5" } }, "900150983CD24FB0D6963F7D28E17F72", "newOperators"],
      [
        { $hexHash: { input: "abc", algorithm: "sha256" } },
        "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
        "newOperators"
      ],
      [{ $hexHash: { input: null, algorithm: "md5" } }, null, "newOperators"],
      [{ $hexHash: { input: 1, algorithm: "md5" } }, rejected],
      [{ $hexHash: { input: "abc", algorithm: "sha1" } }, rejected]
    ]),
    runs([{ _id: 1 }, { _id: 2 }], [[
      [{ $group: { _id: { $createObjectId: {} } } }, { $count: "n" }],
      [{ n: 2 }],
      "newOperators"
    ], [
      [
        { $lookup: { pipeline: [{ $documents: [{}, {}] }, { $set: { made: { $createObjectId: {} } } }], as: "all" } },
        { $unwind: "$all" },
        { $group: { _id: "$all.made" } },
        { $count: "n" }
      ],
      [{ n: 4 }],
      "newOperators"
    ]])
  )

  const donors = [1000, 1001, 1002, 1003, 1004].map((donor, _id) => ({ _id, donor, amount: 0 }))
  const isBelow = (value: unknown, limit: number) => ({ $and: [{ $gte: [value, 0] }, { $lt: [value, limit] }] })

  page(
    "$rand and $sampleRate",
    runs(donors, [
      [
        [
          { $set: { amount: { $multiply: [{ $rand: {} }, 100] } } },
          { $set: { amount: { $floor: "$amount" } } },
          { $project: { isBelow: isBelow("$amount", 100) } }
        ],
        donors.map(({ _id }) => ({ _id, isBelow: true }))
      ],
      [[{ $match: { $expr: { $lt: [1, { $rand: {} }] } } }], []],
      [[{ $match: { $sampleRate: 1 } }, { $count: "n" }], [{ n: 5 }], "sampleRate"],
      [[{ $match: { $sampleRate: 0 } }], [], "sampleRate"]
    ])
  )
}
