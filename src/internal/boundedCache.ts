/** A cache with a maximum number of entries, for keys that callers choose: requests can't exhaust the memory. */

/** Values by text keys. A full cache drops its oldest value, so callers may choose the keys. */
export class BoundedCache<A> {
  readonly #values = new Map<string, A>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: string): A | undefined {
    return this.#values.get(key)
  }

  /** The value of a key; `make` computes it if it is not cached. `undefined` is not cached. */
  getOrMake(key: string, make: () => A): A {
    const cached = this.#values.get(key)
    if (cached !== undefined) return cached
    const made = make()
    if (made !== undefined) this.set(key, made)
    return made
  }

  /** Caches a value as the newest one, in the place of another value of the key. */
  set(key: string, value: A): void {
    this.#values.delete(key)
    const [oldest] = this.#values.keys()
    if (oldest !== undefined && this.#values.size >= this.#capacity) this.#values.delete(oldest)
    if (this.#values.size < this.#capacity) this.#values.set(key, value)
  }

  /** Forgets the value of a key, if there is one. */
  delete(key: string): void {
    this.#values.delete(key)
  }
}
