/**
 * A rule as the document speaks of it: a row of `AccessPolicy`.
 *
 * @internal
 */
export interface Entry {
  readonly endpoint: string
  readonly who: string
  readonly rows: string
  readonly check: string
  readonly hidden: ReadonlyArray<string>
  readonly readOnly: ReadonlyArray<string>
  readonly credentials: "none" | "optional" | "required"
}

/**
 * The rules by endpoint; `undefined` for an endpoint that no registration has.
 *
 * @internal
 */
export type Entries = ReadonlyMap<string, ReadonlyArray<Entry>>

/**
 * The rules that admit somebody.
 *
 * @internal
 */
export const entriesOf = (entries: ReadonlyArray<Entry>): Entries => {
  const found = new Map<string, Array<Entry>>()
  for (const entry of entries) {
    const own = found.get(entry.endpoint) ?? []
    found.set(entry.endpoint, own)
    if (entry.who !== "nobody") own.push(entry)
  }
  return found
}
