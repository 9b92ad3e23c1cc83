import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { changes, eachOf, rejected, updatePagesOf } from "./updatesPage.ts"

const quiz = (wk: number, score: number) => ({ wk, score })
const numbered = (id: number, score: number) => ({ id, score })
const answer = (q: number, a: number) => ({ q, a })

const stores = [
  {
    _id: 1,
    fruits: ["apples", "pears", "oranges", "grapes", "bananas"],
    vegetables: ["carrots", "celery", "squash", "carrots"]
  },
  {
    _id: 2,
    fruits: ["plums", "kiwis", "oranges", "bananas", "apples"],
    vegetables: ["broccoli", "zucchini", "carrots", "onions"]
  }
]

const survey = [
  { _id: 1, results: [{ item: "A", score: 5 }, { item: "B", score: 8 }] },
  { _id: 2, results: [{ item: "C", score: 8 }, { item: "B", score: 4 }] }
]

const first = {
  _id: 1,
  results: [
    { item: "A", score: 5, answers: [answer(1, 4), answer(2, 6)] },
    { item: "B", score: 8, answers: [answer(1, 8), answer(2, 9)] }
  ]
}
const second = {
  _id: 2,
  results: [
    { item: "C", score: 8, answers: [answer(1, 8), answer(2, 7)] },
    { item: "B", score: 4, answers: [answer(1, 0), answer(2, 8)] }
  ]
}

/** The manual's pages of update operators of arrays, and of their modifiers. */
export const arrayUpdatePages = (it: Tests, differs: Differs) => {
  const page = updatePagesOf(it, differs)

  page(
    "$addToSet",
    ...eachOf(
      [{ letters: ["a", "b"] }, { $addToSet: { letters: ["c", "d"] } }, { letters: ["a", "b", ["c", "d"]] }],
      [{ colors: "blue,green,red" }, { $addToSet: { colors: "c" } }, rejected],
      [{ item: "polarizing_filter" }, { $addToSet: { tags: "camera" } }, {
        item: "polarizing_filter",
        tags: ["camera"]
      }],
      [{ tags: ["electronics", "camera"] }, { $addToSet: { tags: "accessories" } }, {
        tags: ["electronics", "camera", "accessories"]
      }],
      [{ tags: ["electronics", "camera"] }, { $addToSet: { tags: "camera" } }, { tags: ["electronics", "camera"] }],
      [
        { tags: ["electronics", "supplies"] },
        { $addToSet: { tags: { $each: ["camera", "electronics", "accessories"] } } },
        { tags: ["electronics", "supplies", "camera", "accessories"] }
      ],
      [{ l: [{ x: 1, y: 1 }] }, { $addToSet: { l: { y: 1, x: 1 } } }, { l: [{ x: 1, y: 1 }, { y: 1, x: 1 }] }]
    )
  )

  page(
    "$pop",
    changes(
      [{ _id: 1, scores: [8, 9, 10] }],
      [{ _id: 1 }, { $pop: { scores: -1 } }, [{ _id: 1, scores: [9, 10] }]],
      [{ _id: 1 }, { $pop: { scores: 1 } }, [{ _id: 1, scores: [9] }]],
      [{ _id: 1 }, { $pop: { scores: 1 } }, [{ _id: 1, scores: [] }]],
      [{ _id: 1 }, { $pop: { scores: 2 } }, rejected]
    )
  )

  page(
    "$pull",
    changes(stores, [{}, { $pull: { fruits: { $in: ["apples", "oranges"] }, vegetables: "carrots" } }, [
      { _id: 1, fruits: ["pears", "grapes", "bananas"], vegetables: ["celery", "squash"] },
      { _id: 2, fruits: ["plums", "kiwis", "bananas"], vegetables: ["broccoli", "zucchini", "onions"] }
    ]]),
    changes([{ _id: 1, votes: [3, 5, 6, 7, 7, 8] }], [{ _id: 1 }, { $pull: { votes: { $gte: 6 } } }, [
      { _id: 1, votes: [3, 5] }
    ]]),
    changes(
      survey,
      [{}, { $pull: { results: { $elemMatch: { score: 8, item: "B" } } } }, []],
      [{}, { $pull: { results: { score: 8, item: "B" } } }, [{ _id: 1, results: [{ item: "A", score: 5 }] }]]
    ),
    changes(
      [first, second],
      [{}, { $pull: { results: { answers: { $elemMatch: { q: 2, a: { $gte: 8 } } } } } }, [
        { _id: 1, results: [first.results[0]] },
        { _id: 2, results: [second.results[0]] }
      ]]
    )
  )

  page(
    "$pullAll",
    ...eachOf([{ scores: [0, 2, 5, 5, 1, 0] }, { $pullAll: { scores: [0, 5] } }, { scores: [2, 1] }])
  )

  page(
    "$push",
    changes(
      [{ _id: 1, scores: [44, 78, 38, 80] }],
      [{ _id: 1 }, { $push: { scores: 89 } }, [{ _id: 1, scores: [44, 78, 38, 80, 89] }]]
    ),
    changes(
      [
        { _id: 2, scores: [45, 78, 38, 80, 89] },
        { _id: 3, scores: [46, 78, 38, 80, 89] },
        { _id: 4, scores: [47, 78, 38, 80, 89] }
      ],
      [{}, { $push: { scores: 95 } }, [
        { _id: 2, scores: [45, 78, 38, 80, 89, 95] },
        { _id: 3, scores: [46, 78, 38, 80, 89, 95] },
        { _id: 4, scores: [47, 78, 38, 80, 89, 95] }
      ]]
    ),
    ...eachOf(
      [{ name: "joe", scores: [44, 78] }, { $push: { scores: { $each: [90, 92, 85] } } }, {
        name: "joe",
        scores: [44, 78, 90, 92, 85]
      }],
      [
        { quizzes: [quiz(1, 10), quiz(2, 8), quiz(3, 5), quiz(4, 6)] },
        { $push: { quizzes: { $each: [quiz(5, 8), quiz(6, 7), quiz(7, 6)], $sort: { score: -1 }, $slice: 3 } } },
        { quizzes: [quiz(1, 10), quiz(2, 8), quiz(5, 8)] }
      ],
      [{ scores: 1 }, { $push: { scores: 89 } }, rejected]
    )
  )

  page(
    "$slice of $push",
    ...eachOf(
      [{ scores: [40, 50, 60] }, { $push: { scores: { $each: [80, 78, 86], $slice: -5 } } }, {
        scores: [50, 60, 80, 78, 86]
      }],
      [{ scores: [89, 90] }, { $push: { scores: { $each: [100, 20], $slice: 3 } } }, { scores: [89, 90, 100] }],
      [{ scores: [89, 70, 100, 20] }, { $push: { scores: { $each: [], $slice: -3 } } }, { scores: [70, 100, 20] }],
      [{ scores: [89, 70] }, { $push: { scores: { $each: [1], $slice: 0 } } }, { scores: [] }]
    )
  )

  page(
    "$sort of $push",
    ...eachOf(
      [
        { quizzes: [numbered(1, 6), numbered(2, 9)] },
        { $push: { quizzes: { $each: [numbered(3, 8), numbered(4, 7), numbered(5, 6)], $sort: { score: 1 } } } },
        { quizzes: [numbered(1, 6), numbered(5, 6), numbered(4, 7), numbered(3, 8), numbered(2, 9)] }
      ],
      [{ tests: [89, 70, 89, 50] }, { $push: { tests: { $each: [40, 60], $sort: 1 } } }, {
        tests: [40, 50, 60, 70, 89, 89]
      }],
      [{ tests: [89, 70, 100, 20] }, { $push: { tests: { $each: [], $sort: -1 } } }, { tests: [100, 89, 70, 20] }]
    )
  )

  page(
    "$position",
    changes(
      [{ _id: 1, scores: [100] }],
      [{ _id: 1 }, { $push: { scores: { $each: [50, 60, 70], $position: 0 } } }, [{
        _id: 1,
        scores: [50, 60, 70, 100]
      }]],
      [{ _id: 1 }, { $push: { scores: { $each: [20, 30], $position: 2 } } }, [
        { _id: 1, scores: [50, 60, 20, 30, 70, 100] }
      ]],
      [{ _id: 1 }, { $push: { scores: { $each: [90, 80], $position: -2 } } }, [
        { _id: 1, scores: [50, 60, 20, 30, 90, 80, 70, 100] }
      ]],
      [{ _id: 1 }, { $push: { scores: { $each: [5], $position: 99 } } }, [
        { _id: 1, scores: [50, 60, 20, 30, 90, 80, 70, 100, 5] }
      ]]
    )
  )
}
