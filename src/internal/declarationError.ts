/**
 * The error of mistakes in a program's declarations, such as a model with an invalid field, which the developer has to
 * fix.
 */

/**
 * A mistake in the declaration of a model or of a part that uses one. It is a defect, since the running program can't
 * recover from it. The message is one sentence for the developer.
 */
export class DeclarationError extends Error {
  override readonly name = "DeclarationError"
}
