/**
 * Messages as data: the key of a catalogue and its arguments, from which the text in any language follows.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * A name that catalogues may have a label for: that of a model, or of one of its fields.
 *
 * @category models
 * @since 0.1.0
 */
export interface Label {
  readonly model: string
  readonly field?: string | undefined
}

/**
 * What a message says of something. Labels in a list have commas between them, other parts have semicolons.
 *
 * @category models
 * @since 0.1.0
 */
export type Argument = string | number | Label | Text | ReadonlyArray<string | Label | Text>

/**
 * A message in any language. It is data, so that a copy of an error keeps it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Text {
  readonly key: string
  readonly args?: { readonly [name: string]: Argument } | undefined
}

const isText = (u: unknown): u is Text => Predicate.hasProperty(u, "key") && Predicate.isString(u.key)

/**
 * The schema of a text, for the classes of errors. To check its arguments as well would cost as much as the error itself.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Text: Schema.Codec<Text> = Schema.declare(isText)

/** The argument in the words of a language. @internal */
export const worded = (argument: Argument, words: {
  readonly text: (text: Text) => string
  readonly label: (label: Label) => string
}): string | number => {
  if (typeof argument === "string" || typeof argument === "number") return argument
  if ("key" in argument) return words.text(argument)
  if ("model" in argument) return words.label(argument)
  return argument.map((one) => worded(one, words)).join(argument.every(isLabel) ? ", " : "; ")
}

const isLabel = (argument: string | Label | Text): boolean => typeof argument === "object" && "model" in argument
