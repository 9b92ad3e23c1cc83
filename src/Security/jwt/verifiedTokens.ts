import type { CurrentUser } from "../CurrentUser.ts"

/**
 * The users of verified tokens, by the tokens' hashes. A full cache drops the oldest one.
 *
 * @internal
 */
export class VerifiedTokens {
  readonly #capacity: number
  readonly #entries = new Map<string, { readonly user: CurrentUser["Service"]; readonly until: number }>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The user of a token, if it was verified and has not ended at `now`, in milliseconds. */
  get(hash: string, now: number): CurrentUser["Service"] | undefined {
    const entry = this.#entries.get(hash)
    if (entry === undefined || now < entry.until) return entry?.user
    this.#entries.delete(hash)
    return undefined
  }

  set(hash: string, user: CurrentUser["Service"], until: number): void {
    // Of two verifications at once the second one takes the place of the first.
    this.#entries.delete(hash)
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= this.#capacity) this.#entries.delete(oldest)
    if (this.#entries.size < this.#capacity) this.#entries.set(hash, { user, until })
  }
}
