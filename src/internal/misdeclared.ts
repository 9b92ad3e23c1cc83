/**
 * A mistake in the declaration of a model or of what holds one. It is a defect: nothing can be done about it while the
 * program runs. Its message is one sentence for the developer.
 *
 * @internal
 */
export class Misdeclared extends Error {
  override readonly name = "Misdeclared"
}
