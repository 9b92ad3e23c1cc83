import { Decimal128 } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { type Constant, constants, each, pagesOf, rejected } from "./expressionsPage.ts"

const decimal = (text: string) => Decimal128.fromString(text)

/**
 * Whether a decimal is the manual's or the next one to it. MongoDB computes with the 113 bits of a wider binary type, and
 * some of the manual's last digits are not the nearest ones.
 */
const nearly = (expression: unknown, digits: string) =>
  [
    {
      $and: [
        { $eq: [{ $type: expression }, "decimal"] },
        {
          $lte: [
            { $abs: { $subtract: [expression, decimal(digits)] } },
            { $multiply: [decimal(digits), decimal("1E-33")] }
          ]
        }
      ]
    },
    true
  ] as const

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
  const radians = (degrees: unknown) => ({ $degreesToRadians: degrees })
  const ratio = (a: string, b: string) => ({ $divide: [a, b] })

  /** Decimals of one document, and the decimals that expressions yield. */
  const decimals = (
    fields: { readonly [name: string]: string },
    ...rows: ReadonlyArray<readonly [expression: unknown, digits: string | true]>
  ) =>
    each(
      [{ _id: 1, ...Object.fromEntries(Object.entries(fields).map(([name, digits]) => [name, decimal(digits)])) }],
      rows.map(([expression, value]) => [expression, [value === true ? value : decimal(value)], "slowDecimals"])
    )

  const sides = { side_a: "3", side_b: "4", hypotenuse: "5" }
  const angle = {
    angle: "53.13010235415597870314438744090659",
    radians: "0.9272952180016122324285124629224288",
    side_a: "3",
    hypotenuse: "5"
  }

  page(
    "$sin, $cos and $tan",
    constants(["$sin", "$cos", "$tan"].flatMap((operator) => edges(operator, rejected, rejected))),
    decimals(
      angle,
      [{ $multiply: [{ $sin: radians("$angle") }, "$hypotenuse"] }, "4.000000000000000000000000000000000"],
      [{ $multiply: [{ $sin: "$radians" }, "$hypotenuse"] }, "4.000000000000000000000000000000000"],
      [{ $multiply: [{ $cos: radians("$angle") }, "$hypotenuse"] }, "2.999999999999999999999999999999999"],
      [{ $multiply: [{ $cos: "$radians" }, "$hypotenuse"] }, "3.000000000000000000000000000000000"],
      nearly({ $multiply: [{ $tan: radians("$angle") }, "$side_a"] }, "4.000000000000000000000000000000000"),
      [{ $multiply: [{ $tan: "$radians" }, "$side_a"] }, "3.999999999999999999999999999999999"]
    )
  )

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
    decimals(
      sides,
      [degrees({ $asin: ratio("$side_a", "$hypotenuse") }), "36.86989764584402129685561255909341"],
      [{ $asin: ratio("$side_a", "$hypotenuse") }, "0.6435011087932843868028092287173226"],
      [degrees({ $acos: ratio("$side_b", "$hypotenuse") }), "36.86989764584402129685561255909341"],
      [{ $acos: ratio("$side_b", "$hypotenuse") }, "0.6435011087932843868028092287173226"],
      [degrees({ $atan: ratio("$side_b", "$side_a") }), "53.13010235415597870314438744090658"],
      [{ $atan: ratio("$side_b", "$side_a") }, "0.9272952180016122324285124629224287"],
      nearly(degrees({ $atan2: ["$side_b", "$side_a"] }), "53.13010235415597870314438744090658"),
      nearly({ $atan2: ["$side_b", "$side_a"] }, "0.9272952180016122324285124629224287")
    )
  )

  page(
    "$sinh, $cosh and $tanh",
    constants([
      ...edges("$sinh", Infinity, -Infinity),
      ...edges("$cosh", Infinity, Infinity),
      ...edges("$tanh", 1, -1)
    ]),
    decimals(
      { degrees: "53.1301023541559787031443874490659", radians: "1.6301023541559787031443874490659" },
      [{ $cosh: radians("$degrees") }, "1.461642741099671277595921778079396"],
      [{ $cosh: "$radians" }, "2.650153334504361016712328539738000"],
      [{ $sinh: radians("$degrees") }, "1.066020404405732132503284522731829"],
      [{ $sinh: "$radians" }, "2.454243813557362033961729701069671"],
      nearly({ $tanh: radians("$degrees") }, "0.7293303448445332820512777329448416"),
      nearly({ $tanh: "$radians" }, "0.9260761562750713360156803177935379")
    )
  )

  // The page of $asinh has 1.818446459232066823483698963560709 for the area of 1: that is the one of 3.
  page(
    "$asinh, $acosh and $atanh",
    constants([
      ...edges("$asinh", Infinity, -Infinity),
      ...edges("$acosh", Infinity, rejected),
      ...edges("$atanh", rejected, rejected),
      [{ $acosh: 0 }, rejected],
      [{ $atanh: 1 }, Infinity],
      [{ $atanh: -1 }, -Infinity]
    ]),
    decimals(
      { a: "1", b: "3", c: "0.5" },
      [degrees({ $asinh: "$a" }), "50.49898671052621144221476300417157"],
      [{ $asinh: "$a" }, "0.8813735870195430252326093249797923"],
      [{ $asinh: "$b" }, "1.818446459232066823483698963560709"],
      [degrees({ $acosh: "$b" }), "100.9979734210524228844295260083432"],
      [{ $acosh: "$b" }, "1.762747174039086050465218649959585"],
      [degrees({ $atanh: "$c" }), "31.47292373094538001977241539068589"],
      nearly({ $atanh: "$c" }, "0.5493061443340548456976226184612628")
    )
  )

  page(
    "$degreesToRadians and $radiansToDegrees",
    constants([
      ...edges("$degreesToRadians", Infinity, -Infinity),
      ...edges("$radiansToDegrees", Infinity, -Infinity)
    ]),
    decimals(
      { a: "53.13010235415597870314438744090659", b: "36.86989764584402129685561255909341", c: "90" },
      [radians("$a"), "0.9272952180016122324285124629224290"],
      [radians("$b"), "0.6435011087932843868028092287173227"],
      [radians("$c"), "1.570796326794896619231321691639752"]
    ),
    decimals(
      {
        a: "0.9272952180016122324285124629224290",
        b: "0.6435011087932843868028092287173227",
        c: "1.570796326794896619231321691639752"
      },
      nearly(degrees("$a"), "53.13010235415597870314438744090659"),
      [degrees("$b"), "36.86989764584402129685561255909341"],
      nearly(degrees("$c"), "90.00000000000000000000000000000000")
    )
  )
}
