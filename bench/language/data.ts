/**
 * The orders that every contestant filters, aggregates and updates.
 */

/** An order as a plain document. */
export type Order = {
  readonly _id: string
  readonly customer: string
  readonly status: string
  readonly total: number
  readonly quantity: number
  readonly placed: Date
  readonly tags: ReadonlyArray<string>
  readonly address: { readonly city: string; readonly zip: string }
  readonly lines: ReadonlyArray<{ readonly sku: string; readonly price: number; readonly quantity: number }>
}

const statuses = ["open", "paid", "sent", "closed"]
const cities = ["Zürich", "Bern", "Genève", "Lugano", "Basel", "Chur", "Sion"]
const tags = ["gift", "fragile", "heavy", "insured"]

/** As many orders as are asked for, the same ones in every run: new objects at each call. */
export const orders = (count: number): ReadonlyArray<Order> =>
  Array.from({ length: count }, (_, index) => {
    // Scattered, so that no field is in the order of another.
    const scattered = Math.imul(index + 1, 2_654_435_761) >>> 0
    return {
      _id: `O${index.toString().padStart(9, "0")}`,
      customer: `C${scattered % 10_000}`,
      status: statuses[scattered % 4] ?? "open",
      total: (scattered % 100_000) / 100,
      quantity: scattered % 40,
      placed: new Date(Date.UTC(2026, 0, 31, 9, 30) + (scattered % 525_600) * 60_000),
      tags: tags.slice(0, scattered % 5),
      address: { city: cities[scattered % cities.length] ?? "Bern", zip: String(1000 + scattered % 9000) },
      lines: Array.from({ length: 1 + scattered % 4 }, (_, line) => ({
        sku: `S${(scattered + line * 7919) % 5000}`,
        price: ((scattered >>> line) % 20_000) / 100,
        quantity: 1 + (scattered >>> line) % 9
      }))
    }
  })
