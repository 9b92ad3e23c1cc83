/**
 * A stored value in the input of a write, which nobody has sent: it is neither converted nor replaced by a default.
 *
 * @internal
 */
export class Kept {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}
