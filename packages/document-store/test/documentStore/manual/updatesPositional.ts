import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { changes, made, rejected, updatePagesOf } from "./updatesPage.ts"

const graded = (grade: number, mean: number, std: number) => ({ grade, mean, std })
const asked = (type: string, ...questions: ReadonlyArray<number>) => ({ type, questions })

const grades = [{ _id: 1, grades: [85, 82, 80] }, { _id: 2, grades: [88, 90, 92] }, { _id: 3, grades: [85, 100, 90] }]
const nested = {
  _id: 1,
  grades: [asked("quiz", 10, 8, 5), asked("quiz", 8, 9, 6), asked("hw", 5, 4, 3), asked("exam", 25, 10, 23, 0)]
}
const everyScore = {
  _id: 1,
  grades: [asked("quiz", 12, 10, 5), asked("quiz", 10, 11, 6), asked("hw", 5, 4, 3), asked("exam", 27, 12, 25, 0)]
}
const christine = (campaign: object) => ({
  _id: 1,
  name: "Christine Franklin",
  degrees: [{ level: "Master", major: "Biology", ...campaign }, { level: "Bachelor", major: "Biology" }]
})
const reyansh = { _id: 2, name: "Reyansh Sengupta", degrees: [{ level: "Bachelor", major: "Chemical Engineering" }] }

/** The manual's pages of the positional update operators. */
export const positionalUpdatePages = (it: Tests, differs: Differs) => {
  const page = updatePagesOf(it, differs)

  page(
    "$ of an update",
    changes(
      [{ _id: 1, grades: [85, 80, 80] }, { _id: 2, grades: [88, 90, 92] }, { _id: 3, grades: [85, 100, 90] }],
      [{ _id: 1, grades: 80 }, { $set: { "grades.$": 82 } }, [{ _id: 1, grades: [85, 82, 80] }]],
      [{ _id: 1, grades: 82 }, { $unset: { "grades.$": "" } }, [{ _id: 1, grades: [85, null, 80] }]],
      [{ _id: 2 }, { $set: { "grades.$": 1 } }, rejected],
      [{ _id: 9, grades: { $gt: 1 } }, { $set: { "grades.$": 1 } }, rejected, {
        upsert: true,
        difference: "positionalUpserts"
      }]
    ),
    changes(
      [{ _id: 4, grades: [graded(80, 75, 8), graded(85, 90, 5), graded(85, 85, 8)] }],
      [{ _id: 4, "grades.grade": 85 }, { $set: { "grades.$.std": 6 } }, [
        { _id: 4, grades: [graded(80, 75, 8), graded(85, 90, 6), graded(85, 85, 8)] }
      ]]
    ),
    changes(
      [{ _id: 5, grades: [graded(80, 75, 8), graded(85, 90, 5), graded(90, 85, 3)] }],
      [
        { _id: 5, grades: { $elemMatch: { grade: { $lte: 90 }, mean: { $gt: 80 } } } },
        { $set: { "grades.$.std": 6 } },
        [
          { _id: 5, grades: [graded(80, 75, 8), graded(85, 90, 6), graded(90, 85, 3)] }
        ]
      ]
    )
  )

  page(
    "$[]",
    changes(
      grades,
      [{}, { $inc: { "grades.$[]": 10 } }, [
        { _id: 1, grades: [95, 92, 90] },
        { _id: 2, grades: [98, 100, 102] },
        { _id: 3, grades: [95, 110, 100] }
      ]]
    ),
    changes(
      [
        { _id: 1, grades: [graded(80, 75, 8), graded(85, 90, 6), graded(85, 85, 8)] },
        { _id: 2, grades: [graded(90, 75, 8), graded(87, 90, 5), graded(85, 85, 6)] }
      ],
      [{}, { $inc: { "grades.$[].std": -2 } }, [
        { _id: 1, grades: [graded(80, 75, 6), graded(85, 90, 4), graded(85, 85, 6)] },
        { _id: 2, grades: [graded(90, 75, 6), graded(87, 90, 3), graded(85, 85, 4)] }
      ]]
    ),
    changes(
      grades,
      [{ grades: { $ne: 100 } }, { $inc: { "grades.$[]": 10 } }, [
        { _id: 1, grades: [95, 92, 90] },
        { _id: 2, grades: [98, 100, 102] }
      ]]
    ),
    changes([nested], [{}, { $inc: { "grades.$[].questions.$[score]": 2 } }, [everyScore], {
      arrayFilters: [{ score: { $gte: 8 } }]
    }]),
    changes(
      [],
      [{ myArray: [5, 8] }, { $set: { "myArray.$[]": 10 } }, [{ _id: made, myArray: [10, 10] }], { upsert: true }],
      [{ myArray: 5 }, { $set: { "myArray.$[]": 10 } }, rejected, { upsert: true, difference: "itemsOfNoList" }]
    ),
    changes([], [{}, { $set: { "myArray.$[]": 10 } }, rejected, { upsert: true, difference: "itemsOfNoList" }])
  )

  page(
    "$[identifier]",
    changes(
      [{ _id: 1, grades: [95, 92, 90] }, { _id: 2, grades: [98, 100, 102] }, { _id: 3, grades: [95, 110, 100] }],
      [
        {},
        { $set: { "grades.$[element]": 100 } },
        [{ _id: 2, grades: [98, 100, 100] }, { _id: 3, grades: [95, 100, 100] }],
        { arrayFilters: [{ element: { $gte: 100 } }] }
      ]
    ),
    changes(
      [
        { _id: 1, grades: [graded(80, 75, 6), graded(85, 90, 4), graded(85, 85, 6)] },
        { _id: 2, grades: [graded(90, 75, 6), graded(87, 90, 3), graded(85, 85, 4)] }
      ],
      [{}, { $set: { "grades.$[elem].mean": 100 } }, [
        { _id: 1, grades: [graded(80, 75, 6), graded(85, 100, 4), graded(85, 100, 6)] },
        { _id: 2, grades: [graded(90, 100, 6), graded(87, 100, 3), graded(85, 100, 4)] }
      ], { arrayFilters: [{ "elem.grade": { $gte: 85 } }] }],
      [{}, { $inc: { "grades.$[elem].std": -1 } }, [
        { _id: 1, grades: [graded(80, 75, 5), graded(85, 100, 4), graded(85, 100, 5)] },
        { _id: 2, grades: [graded(90, 100, 5), graded(87, 100, 3), graded(85, 100, 4)] }
      ], { arrayFilters: [{ "elem.grade": { $gte: 80 }, "elem.std": { $gte: 5 } }] }]
    ),
    changes([christine({}), reyansh], [
      {},
      { $set: { "degrees.$[degree].gradcampaign": 1 } },
      [christine({ gradcampaign: 1 })],
      { arrayFilters: [{ "degree.level": { $ne: "Bachelor" } }] }
    ]),
    changes([nested], [{}, { $inc: { "grades.$[t].questions.$[score]": 2 } }, [{
      _id: 1,
      grades: [asked("quiz", 12, 10, 5), asked("quiz", 10, 11, 6), asked("hw", 5, 4, 3), asked("exam", 25, 10, 23, 0)]
    }], { arrayFilters: [{ "t.type": "quiz" }, { score: { $gte: 8 } }] }]),
    changes([nested], [{}, { $inc: { "grades.$[].questions.$[score]": 2 } }, [everyScore], {
      arrayFilters: [{ score: { $gte: 8 } }]
    }]),
    changes([nested], [{}, { $inc: { "grades.$[ t ].questions.$[ score ]": 2 } }, rejected, {
      arrayFilters: [{ "t.type": "quiz" }, { score: { $gte: 8 } }]
    }]),
    changes([], [
      { myArray: [0, 1] },
      { $set: { "myArray.$[element]": 2 } },
      [{ _id: made, myArray: [2, 1] }],
      { arrayFilters: [{ element: 0 }], upsert: true }
    ]),
    changes([], [{}, { $set: { "myArray.$[element]": 10 } }, rejected, {
      arrayFilters: [{ element: 9 }],
      upsert: true,
      difference: "itemsOfNoList"
    }])
  )
}
