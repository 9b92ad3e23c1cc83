import * as Permission from "../../Access/Permission.ts"
import type { Entry } from "../AccessPolicy.ts"

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
    if (entry.who !== nobody) own.push(entry)
  }
  return found
}

/** Nobody, in the words of the access policy. */
export const nobody = Permission.describe(Permission.Denied)
