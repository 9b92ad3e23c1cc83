import { Decimal128 } from "bson"
import type { Differs } from "../../../../support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { type Constant, constants, each, pagesOf, rejected } from "./expressionsPage.ts"

const decimal = (text: string) => Decimal128.fromString(text)

/** Whether a decimal is the manual's in the first digits: the embedded store computes with those of a double. */
const isDecimal = (expression: unknown, digits: string) => ({
  $and: [
    { $eq: [{ $type: expression }, "decimal"] },
    { $lt: [{ $abs: { $subtract: [expression, decimal(digits)] } }, decimal("1e-12")] }
  ]
})

const holds = (expression: unknown, digits: string): Constant => [isDecimal(expression, digits), true]

const triangle = {
  angle_a: decimal("53.13010235415597870314438744090659"),
  angle_b: decimal("36.86989764584402129685561255909341"),
  angle_c: decimal("90"),
  rad_a: decimal("0.9272952180016122324285124629224288"),
  rad_b: decimal("0.6435011087932843868028092287173227"),
  rad_c: decimal("1.570796326794896619231321691639752"),
  side_a: decimal("3"),
  side_b: decimal("4"),
  hypotenuse: decimal("5")
}

/** The manual's table of what an operator makes of NaN, null and infinity. */
const edges = (operator: string, upwards: unknown, downwards: unknown): ReadonlyArray<Constant> => [
  [{ [operator]: NaN }, NaN],
  [{ [operator]: null }, null],
  [{ [operator]: Infinity }, upwards],
  [{ [operator]: -Infinity }, downwards]
]

/** The manual's pages of trigonometry. */
export const trigonometryPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)
  const degrees = (radians: unknown) => ({ $radiansToDegrees: radians })
  const x = (text: string) => decimal(text)
  const over = (...rows: ReadonlyArray<Constant>) =>
    each([{ _id: 1, ...triangle }], rows.map(([expression, value]) => [expression, [value], "slowDecimals"] as const))

  page(
    "$sin, $cos and $tan",
    constants(["$sin", "$cos", "$tan"].flatMap((operator) => edges(operator, rejected, rejected))),
    over(
      holds({ $multiply: [{ $sin: { $degreesToRadians: "$angle_a" } }, "$hypotenuse"] }, "4"),
      holds({ $multiply: [{ $sin: "$rad_a" }, "$hypotenuse"] }, "4"),
      holds({ $multiply: [{ $cos: { $degreesToRadians: "$angle_a" } }, "$hypotenuse"] }, "3"),
      holds({ $multiply: [{ $cos: "$rad_a" }, "$hypotenuse"] }, "3"),
      holds({ $multiply: [{ $tan: { $degreesToRadians: "$angle_a" } }, "$side_a"] }, "4"),
      holds({ $multiply: [{ $tan: "$rad_a" }, "$side_a"] }, "4")
    )
  )

  const ratio = (a: string, b: string) => ({ $divide: [a, b] })

  page(
    "$asin, $acos, $atan and $atan2",
    constants([
      ...edges("$asin", rejected, rejected),
      ...edges("$acos", rejected, rejected),
      [{ $atan: NaN }, NaN],
      [{ $atan: null }, null],
      [{ $atan2: [NaN, 1] }, NaN],
      [{ $atan2: [1, NaN] }, NaN],
      [{ $atan2: [null, 1] }, null],
      [{ $atan2: [1, null] }, null],
      [{ $atan2: [NaN, null] }, null],
      [{ $atan2: [null, NaN] }, null]
    ]),
    over(
      holds(degrees({ $asin: ratio("$side_a", "$hypotenuse") }), "36.86989764584402129685561255909341"),
      holds({ $asin: ratio("$side_a", "$hypotenuse") }, "0.6435011087932843868028092287173226"),
      holds(degrees({ $acos: ratio("$side_b", "$hypotenuse") }), "36.86989764584402129685561255909341"),
      holds({ $acos: ratio("$side_b", "$hypotenuse") }, "0.6435011087932843868028092287173226"),
      holds(degrees({ $atan: ratio("$side_b", "$side_a") }), "53.13010235415597870314438744090658"),
      holds({ $atan: ratio("$side_b", "$side_a") }, "0.9272952180016122324285124629224287"),
      holds(degrees({ $atan2: ["$side_b", "$side_a"] }), "53.13010235415597870314438744090658"),
      holds({ $atan2: ["$side_b", "$side_a"] }, "0.9272952180016122324285124629224287")
    )
  )

  page(
    "$sinh, $cosh and $tanh",
    constants([
      ...edges("$sinh", Infinity, -Infinity),
      ...edges("$cosh", Infinity, Infinity),
      ...edges("$tanh", 1, -1),
      holds(
        { $cosh: { $degreesToRadians: x("53.1301023541559787031443874490659") } },
        "1.461642741099671277595921778079"
      ),
      holds({ $cosh: x("1.6301023541559787031443874490659") }, "2.650153334504361016712328539738"),
      holds(
        { $sinh: { $degreesToRadians: x("53.1301023541559787031443874490659") } },
        "1.066020404405732132503284522731"
      ),
      holds({ $sinh: x("1.6301023541559787031443874490659") }, "2.454243813557362033961729701069"),
      holds(
        { $tanh: { $degreesToRadians: x("53.1301023541559787031443874490659") } },
        "0.729330344844533282051277732944"
      ),
      holds({ $tanh: x("1.6301023541559787031443874490659") }, "0.926076156275071336015680317793")
    ])
  )

  page(
    "$asinh, $acosh and $atanh",
    constants([
      ...edges("$asinh", Infinity, -Infinity),
      ...edges("$acosh", Infinity, rejected),
      ...edges("$atanh", rejected, rejected),
      [{ $acosh: 0 }, rejected],
      [{ $atanh: 1 }, Infinity],
      [{ $atanh: -1 }, -Infinity],
      holds(degrees({ $asinh: x("1") }), "50.49898671052621144221476300417157"),
      holds({ $asinh: x("1") }, "0.8813735870195430252326093249797923"),
      holds(degrees({ $acosh: x("3") }), "100.9979734210524228844295260083432"),
      holds({ $acosh: x("3") }, "1.762747174039086050465218649959585"),
      holds(degrees({ $atanh: x("0.5") }), "31.47292373094538001977241539068589"),
      holds({ $atanh: x("0.5") }, "0.5493061443340548456976226184612628")
    ])
  )

  page(
    "$degreesToRadians and $radiansToDegrees",
    constants([
      ...edges("$degreesToRadians", Infinity, -Infinity),
      ...edges("$radiansToDegrees", Infinity, -Infinity)
    ]),
    over(
      holds({ $degreesToRadians: "$angle_a" }, "0.9272952180016122324285124629224290"),
      holds({ $degreesToRadians: "$angle_b" }, "0.6435011087932843868028092287173227"),
      holds({ $degreesToRadians: "$angle_c" }, "1.570796326794896619231321691639752"),
      holds(degrees("$rad_a"), "53.13010235415597870314438744090659"),
      holds(degrees("$rad_b"), "36.86989764584402129685561255909341"),
      holds(degrees("$rad_c"), "90.00000000000000000000000000000000")
    )
  )
}
