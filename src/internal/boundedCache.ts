/**
 * Values by text keys, computed at the first use. A full cache drops its oldest value, so callers may choose the keys.
 *
 * @internal
 */
export class BoundedCache<A> {
  readonly #values = new Map<string, A>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The value of a key; `make` computes it if it is not cached. `undefined` is not cached. */
  get(key: string, make: () => A): A {
    const cached = this.#values.get(key)
    if (cached !== undefined) return cached
    const made = make()
    if (made === undefined) return made
    const [oldest] = this.#values.keys()
    if (oldest !== undefined && this.#values.size >= this.#capacity) this.#values.delete(oldest)
    this.#values.set(key, made)
    return made
  }
}
