import { Decimal128 } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { rejected, runs, stagePagesOf } from "./stagesPage.ts"

const decimal = (text: string) => Decimal128.fromString(text)

const artists = ([
  ["Bernard", "Emil", 1868],
  ["Rippl-Ronai", "Joszef", 1861],
  ["Ostroumova", "Anna", 1871],
  ["Van Gogh", "Vincent", 1853],
  ["Maurer", "Alfred", 1868],
  ["Munch", "Edvard", 1863],
  ["Redon", "Odilon", 1840],
  ["Diriks", "Edvard", 1855]
] as const).map(([last_name, first_name, year_born], i) => ({ _id: i + 1, last_name, first_name, year_born }))
const born = (name: string, year_born: number) => ({ name, year_born })
const byYearBorn = {
  $bucket: {
    groupBy: "$year_born",
    boundaries: [1840, 1850, 1860, 1870, 1880],
    default: "Other",
    output: {
      count: { $sum: 1 },
      artists: { $push: { name: { $concat: ["$first_name", " ", "$last_name"] }, year_born: "$year_born" } }
    }
  }
}
const bornInSixties = {
  _id: 1860,
  count: 4,
  artists: [
    born("Emil Bernard", 1868),
    born("Joszef Rippl-Ronai", 1861),
    born("Alfred Maurer", 1868),
    born("Edvard Munch", 1863)
  ]
}

const titles = [
  "The Pillars of Society",
  "Melancholy III",
  "Dancer",
  "The Great Wave off Kanagawa",
  "The Persistence of Memory",
  "Composition VII",
  "The Scream",
  "Blue Flower"
]
const tags = [
  ["painting", "satire", "Expressionism", "caricature"],
  ["woodcut", "Expressionism"],
  ["oil", "Surrealism", "painting"],
  ["woodblock", "ukiyo-e"],
  ["Surrealism", "painting", "oil"],
  ["oil", "painting", "abstract"],
  ["Expressionism", "painting", "oil"],
  ["abstract", "painting"]
]
const prices = ["199.99", "280.00", "76.04", "167.30", "483.00", "385.00", undefined, "118.42"]
const years = [1926, 1902, 1925, undefined, 1931, 1913, 1893, 1918]
const sizes = [[39, 21], [49, 32], [25, 20], [24, 36], [20, 24], [30, 46], [24, 18], [24, 20]]

const artworkOf = (
  prices: ReadonlyArray<string | undefined>,
  years: ReadonlyArray<number | undefined>
) =>
  titles.map((title, i) => ({
    _id: i + 1,
    title,
    tags: tags[i],
    dimensions: { height: sizes[i]?.[0], width: sizes[i]?.[1], units: "in" },
    ...years[i] === undefined ? {} : { year: years[i] },
    ...prices[i] === undefined ? {} : { price: decimal(prices[i]) }
  }))
const artwork = artworkOf(prices, years)
// The page of $bucketAuto has a price and no year for "The Scream".
const autoArtwork = artworkOf(prices.with(6, "159.00"), years.with(6, undefined))

const priced = (title: string, price?: string) => ({ title, ...price === undefined ? {} : { price: decimal(price) } })
const dated = (title: string, year?: number) => ({ title, ...year === undefined ? {} : { year } })
const bucket = (min: unknown, max: unknown, count: number, more = {}) => ({ _id: { min, max }, count, ...more })
const limits = ["76.04", "159.00", "199.99", "385.00", "483.00"].map(decimal)
const priceBuckets = limits.slice(1).map((max, i) => bucket(limits[i], max, 2))

const tagCounts = [
  ...Object.entries({ painting: 6, oil: 4, Expressionism: 3, Surrealism: 2, abstract: 2 }),
  ...["caricature", "satire", "ukiyo-e", "woodblock", "woodcut"].map((tag) => [tag, 1] as const)
].map(([_id, count]) => ({ _id, count }))

const hundred = Array.from({ length: 100 }, (_, _id) => ({ _id }))
const inFive = (granularity?: string) => [
  { $bucketAuto: { groupBy: "$_id", buckets: 5, ...granularity === undefined ? {} : { granularity } } }
]

/** The manual's pages of stages that count and group by ranges. */
export const bucketPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$bucket",
    runs(
      artists,
      [[byYearBorn], [
        { _id: 1840, count: 1, artists: [born("Odilon Redon", 1840)] },
        { _id: 1850, count: 2, artists: [born("Vincent Van Gogh", 1853), born("Edvard Diriks", 1855)] },
        bornInSixties,
        { _id: 1870, count: 1, artists: [born("Anna Ostroumova", 1871)] }
      ]],
      [[byYearBorn, { $match: { count: { $gt: 3 } } }], [bornInSixties]]
    ),
    runs(artwork, [[{
      $facet: {
        price: [{
          $bucket: {
            groupBy: "$price",
            boundaries: [0, 200, 400],
            default: "Other",
            output: {
              count: { $sum: 1 },
              artwork: { $push: { title: "$title", price: "$price" } },
              averagePrice: { $avg: "$price" }
            }
          }
        }],
        year: [{
          $bucket: {
            groupBy: "$year",
            boundaries: [1890, 1910, 1920, 1940],
            default: "Unknown",
            output: { count: { $sum: 1 }, artwork: { $push: { title: "$title", year: "$year" } } }
          }
        }]
      }
    }], [{
      price: [
        {
          _id: 0,
          count: 4,
          artwork: [
            priced("The Pillars of Society", "199.99"),
            priced("Dancer", "76.04"),
            priced("The Great Wave off Kanagawa", "167.30"),
            priced("Blue Flower", "118.42")
          ],
          averagePrice: decimal("140.4375")
        },
        {
          _id: 200,
          count: 2,
          artwork: [priced("Melancholy III", "280.00"), priced("Composition VII", "385.00")],
          averagePrice: decimal("332.50")
        },
        {
          _id: "Other",
          count: 2,
          artwork: [priced("The Persistence of Memory", "483.00"), priced("The Scream")],
          averagePrice: decimal("483.00")
        }
      ],
      year: [
        { _id: 1890, count: 2, artwork: [dated("Melancholy III", 1902), dated("The Scream", 1893)] },
        { _id: 1910, count: 2, artwork: [dated("Composition VII", 1913), dated("Blue Flower", 1918)] },
        {
          _id: 1920,
          count: 3,
          artwork: [
            dated("The Pillars of Society", 1926),
            dated("Dancer", 1925),
            dated("The Persistence of Memory", 1931)
          ]
        },
        { _id: "Unknown", count: 1, artwork: [dated("The Great Wave off Kanagawa")] }
      ]
    }]])
  )

  page(
    "$bucketAuto",
    runs(
      hundred,
      [inFive(), [
        bucket(0, 20, 20),
        bucket(20, 40, 20),
        bucket(40, 60, 20),
        bucket(60, 80, 20),
        bucket(80, 99, 20)
      ]],
      [
        inFive("R20"),
        [bucket(0, 20, 20), bucket(20, 40, 20), bucket(40, 63, 23), bucket(63, 90, 27), bucket(90, 100, 10)],
        "granularity"
      ],
      [
        inFive("E24"),
        [bucket(0, 20, 20), bucket(20, 43, 23), bucket(43, 68, 25), bucket(68, 91, 23), bucket(91, 100, 9)],
        "granularity"
      ],
      [inFive("1-2-5"), [bucket(0, 20, 20), bucket(20, 50, 30), bucket(50, 100, 50)], "granularity"],
      [inFive("POWERSOF2"), [bucket(0, 32, 32), bucket(32, 64, 32), bucket(64, 128, 36)], "granularity"],
      [inFive("R7"), rejected, "granularity"]
    ),
    runs(
      autoArtwork,
      [[{ $bucketAuto: { groupBy: "$price", buckets: 4 } }], priceBuckets],
      [[{
        $facet: {
          price: [{ $bucketAuto: { groupBy: "$price", buckets: 4 } }],
          year: [{
            $bucketAuto: {
              groupBy: "$year",
              buckets: 3,
              output: { count: { $sum: 1 }, years: { $push: "$year" } }
            }
          }],
          area: [{
            $bucketAuto: {
              groupBy: { $multiply: ["$dimensions.height", "$dimensions.width"] },
              buckets: 4,
              output: { count: { $sum: 1 }, titles: { $push: "$title" } }
            }
          }]
        }
      }], [{
        price: priceBuckets,
        year: [
          bucket(null, 1913, 3, { years: [1902] }),
          bucket(1913, 1926, 3, { years: [1913, 1918, 1925] }),
          bucket(1926, 1931, 2, { years: [1926, 1931] })
        ],
        area: [
          bucket(432, 500, 3, { titles: ["The Scream", "The Persistence of Memory", "Blue Flower"] }),
          bucket(500, 864, 2, { titles: ["Dancer", "The Pillars of Society"] }),
          bucket(864, 1568, 2, { titles: ["The Great Wave off Kanagawa", "Composition VII"] }),
          bucket(1568, 1568, 1, { titles: ["Melancholy III"] })
        ]
      }]]
    )
  )

  page(
    "$facet",
    runs(artwork, [[
      {
        $facet: {
          categorizedByTags: [{ $unwind: "$tags" }, { $sortByCount: "$tags" }],
          categorizedByPrice: [
            { $match: { price: { $exists: 1 } } },
            {
              $bucket: {
                groupBy: "$price",
                boundaries: [0, 150, 200, 300, 400],
                default: "Other",
                output: { count: { $sum: 1 }, titles: { $push: "$title" } }
              }
            }
          ],
          "categorizedByYears(Auto)": [{ $bucketAuto: { groupBy: "$year", buckets: 4 } }]
        }
      },
      { $set: { categorizedByTags: { $sortArray: { input: "$categorizedByTags", sortBy: { count: -1, _id: 1 } } } } }
    ], [{
      "categorizedByYears(Auto)": [
        bucket(null, 1902, 2),
        bucket(1902, 1918, 2),
        bucket(1918, 1926, 2),
        bucket(1926, 1931, 2)
      ],
      categorizedByPrice: [
        { _id: 0, count: 2, titles: ["Dancer", "Blue Flower"] },
        { _id: 150, count: 2, titles: ["The Pillars of Society", "The Great Wave off Kanagawa"] },
        { _id: 200, count: 1, titles: ["Melancholy III"] },
        { _id: 300, count: 1, titles: ["Composition VII"] },
        { _id: "Other", count: 1, titles: ["The Persistence of Memory"] }
      ],
      categorizedByTags: tagCounts
    }]])
  )

  page(
    "$sortByCount",
    runs(
      artwork,
      [[{ $unwind: "$tags" }, { $sortByCount: "$tags" }], tagCounts]
    ),
    runs(
      [
        { _id: 1, employee: { last: "An", first: "Auntie" }, business: { city: "Bern" } },
        { _id: 2, employee: { last: "An", first: "Auntie" }, business: { city: "Bern" } }
      ],
      [[{ $sortByCount: { $mergeObjects: ["$employee", "$business"] } }], [
        { _id: { last: "An", first: "Auntie", city: "Bern" }, count: 2 }
      ]],
      [[{ $sortByCount: { lname: "$employee.last", fname: "$employee.first" } }], rejected]
    )
  )
}
