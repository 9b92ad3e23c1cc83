/** A queue whose first item is removed in constant time. */

export class Fifo<A> {
  #items: Array<A> = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  get first(): A | undefined {
    return this.#items[this.#head]
  }

  push(item: A): void {
    this.#items.push(item)
  }

  shift(): A | undefined {
    if (this.#head === this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#head += 1
    // What is gone is at least as much as what is copied.
    if (this.#head >= minGone && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  toArray(): Array<A> {
    return this.#items.slice(this.#head)
  }
}

const minGone = 64
