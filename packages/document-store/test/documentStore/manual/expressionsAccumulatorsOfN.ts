import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { grouped, pagesOf, runs } from "./expressionsPage.ts"

const game = (_id: number, gameId: string, playerId: string, score?: unknown) => ({
  _id,
  gameId,
  playerId,
  ...(score === undefined ? {} : { score })
})
const gamescores = [
  game(1, "G1", "PlayerA", 31),
  game(2, "G1", "PlayerB", 33),
  game(3, "G1", "PlayerC", 99),
  game(4, "G1", "PlayerD", 1),
  game(5, "G2", "PlayerA", 10),
  game(6, "G2", "PlayerB", 14),
  game(7, "G2", "PlayerC", 66),
  game(8, "G2", "PlayerD", 80)
]
const unscored = [
  game(1, "G1", "PlayerA", 1),
  game(2, "G1", "PlayerB", 2),
  game(3, "G1", "PlayerC", 3),
  game(4, "G1", "PlayerD"),
  game(5, "G1", "PlayerE", null)
]

const output = ["$playerId", "$score"]
const one = { $cond: { if: { $eq: ["$gameId", "G2"] }, then: 1, else: 3 } }

/** The manual's pages of accumulators that choose some of the documents. */
export const choosingAccumulatorPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$firstN and $lastN of groups",
    runs(unscored, [
      grouped("$gameId", { $firstN: { input: "$score", n: 5 } }, [["G1", [1, 2, 3, null, null]]]),
      grouped("$gameId", { $lastN: { input: "$score", n: 5 } }, [["G1", [1, 2, 3, null, null]]])
    ]),
    runs(gamescores, [
      grouped("$gameId", { $firstN: { input: output, n: 3 } }, [
        ["G1", [["PlayerA", 31], ["PlayerB", 33], ["PlayerC", 99]]],
        ["G2", [["PlayerA", 10], ["PlayerB", 14], ["PlayerC", 66]]]
      ]),
      grouped("$gameId", { $lastN: { input: output, n: 3 } }, [
        ["G1", [["PlayerB", 33], ["PlayerC", 99], ["PlayerD", 1]]],
        ["G2", [["PlayerB", 14], ["PlayerC", 66], ["PlayerD", 80]]]
      ]),
      grouped({ gameId: "$gameId" }, { $firstN: { input: "$score", n: one } }, [
        [{ gameId: "G1" }, [31, 33, 99]],
        [{ gameId: "G2" }, [10]]
      ]),
      grouped({ gameId: "$gameId" }, { $lastN: { input: "$score", n: one } }, [
        [{ gameId: "G1" }, [33, 99, 1]],
        [{ gameId: "G2" }, [80]]
      ]),
      [
        [{ $sort: { score: -1 } }, { $group: { _id: "$gameId", value: { $firstN: { input: output, n: 3 } } } }, {
          $sort: { _id: 1 }
        }],
        [
          { _id: "G1", value: [["PlayerC", 99], ["PlayerB", 33], ["PlayerA", 31]] },
          { _id: "G2", value: [["PlayerD", 80], ["PlayerC", 66], ["PlayerB", 14]] }
        ]
      ],
      grouped("$gameId", { $lastN: { input: output, n: 3 } }, [
        ["G1", [["PlayerB", 33], ["PlayerA", 31], ["PlayerD", 1]]],
        ["G2", [["PlayerC", 66], ["PlayerB", 14], ["PlayerA", 10]]]
      ], { score: -1 })
    ])
  )

  page(
    "$maxN and $minN of groups",
    runs(unscored, [
      grouped("$gameId", { $maxN: { input: "$score", n: 4 } }, [["G1", [3, 2, 1]]]),
      grouped("$gameId", { $minN: { input: "$score", n: 4 } }, [["G1", [1, 2, 3]]])
    ]),
    runs([8.9, 8.7, 8.5, undefined, null].map((rating, _id) => ({ _id, genre: "Drama", rating })), [
      grouped("$genre", { $maxN: { input: "$rating", n: 4 } }, [["Drama", [8.9, 8.7, 8.5]]])
    ]),
    runs(gamescores, [
      grouped("$gameId", { $maxN: { input: ["$score", "$playerId"], n: 3 } }, [
        ["G1", [[99, "PlayerC"], [33, "PlayerB"], [31, "PlayerA"]]],
        ["G2", [[80, "PlayerD"], [66, "PlayerC"], [14, "PlayerB"]]]
      ]),
      grouped("$gameId", { $minN: { input: ["$score", "$playerId"], n: 3 } }, [
        ["G1", [[1, "PlayerD"], [31, "PlayerA"], [33, "PlayerB"]]],
        ["G2", [[10, "PlayerA"], [14, "PlayerB"], [66, "PlayerC"]]]
      ]),
      grouped({ gameId: "$gameId" }, { $maxN: { input: ["$score", "$playerId"], n: one } }, [
        [{ gameId: "G1" }, [[99, "PlayerC"], [33, "PlayerB"], [31, "PlayerA"]]],
        [{ gameId: "G2" }, [[80, "PlayerD"]]]
      ])
    ])
  )

  const [downwards, upwards] = [{ score: -1 }, { score: 1 }]

  page(
    "$top, $topN, $bottom and $bottomN",
    runs(unscored, [
      grouped("$gameId", { $top: { output, sortBy: upwards } }, [["G1", ["PlayerD", null]]]),
      grouped(
        "$gameId",
        { $bottom: { output, sortBy: downwards } },
        [["G1", ["PlayerD", null]]],
        undefined,
        "lastOfTies"
      ),
      grouped("$gameId", { $topN: { output, sortBy: upwards, n: 3 } }, [
        ["G1", [["PlayerD", null], ["PlayerE", null], ["PlayerA", 1]]]
      ]),
      grouped("$gameId", { $bottomN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerA", 1], ["PlayerD", null], ["PlayerE", null]]]
      ])
    ]),
    runs([game(1, "G1", "PlayerA", 1), game(2, "G1", "PlayerB", "2"), game(3, "G1", "PlayerC", "")], [
      grouped("$gameId", { $top: { output, sortBy: downwards } }, [["G1", ["PlayerB", "2"]]]),
      grouped("$gameId", { $topN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerB", "2"], ["PlayerC", ""], ["PlayerA", 1]]]
      ]),
      grouped("$gameId", { $bottomN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerB", "2"], ["PlayerC", ""], ["PlayerA", 1]]]
      ])
    ]),
    runs(gamescores, [
      grouped("$gameId", { $top: { output, sortBy: downwards } }, [["G1", ["PlayerC", 99]], ["G2", ["PlayerD", 80]]]),
      grouped("$gameId", { $bottom: { output, sortBy: downwards } }, [["G1", ["PlayerD", 1]], ["G2", ["PlayerA", 10]]]),
      grouped("$gameId", { $topN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerC", 99], ["PlayerB", 33], ["PlayerA", 31]]],
        ["G2", [["PlayerD", 80], ["PlayerC", 66], ["PlayerB", 14]]]
      ]),
      grouped("$gameId", { $bottomN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerB", 33], ["PlayerA", 31], ["PlayerD", 1]]],
        ["G2", [["PlayerC", 66], ["PlayerB", 14], ["PlayerA", 10]]]
      ]),
      grouped({ gameId: "$gameId" }, { $topN: { output: "$score", sortBy: downwards, n: one } }, [
        [{ gameId: "G1" }, [99, 33, 31]],
        [{ gameId: "G2" }, [80]]
      ])
    ])
  )
}
