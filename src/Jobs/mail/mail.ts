/**
 * Mails as data, and how sending one fails.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

export const longestLine = 1_000

/** No line break, by which a text would become further headers. */
const line = Schema.NonEmptyString.check(Schema.isPattern(/^[^\r\n\0]*$/u), Schema.isMaxLength(longestLine))

/** With a name, which may have any characters. */
const named = Schema.Struct({ name: line, address: line })

const address = Schema.Union([line, named])

const addresses = Schema.Union([address, Schema.Array(address)])

/** The fields of a mail. */
export const mailFields = {
  /**
   * Addresses, with names or without: `Ann <ann@example.org>`. A name that somebody chose stands in `{ name, address }`: in a text
   * its commas would begin further addresses.
   */
  to: addresses,
  cc: Schema.optional(addresses),
  bcc: Schema.optional(addresses),
  replyTo: Schema.optional(addresses),
  /** Defaults to the sender of the layer. */
  from: Schema.optional(address),
  /** The addresses among these that get the mail, without their names. Defaults to all. */
  only: Schema.optional(Schema.Array(line)),
  subject: line,
  /** The mail as text. */
  text: Schema.optional(Schema.String),
  /** The mail as HTML. */
  html: Schema.optional(Schema.String)
}

/**
 * A mail: addresses (`to`, `cc`, `bcc`, `replyTo`; `from` defaults to the sender of the layer), a subject, and its content as `text`,
 * as `html`, or as both. Addresses and subjects have no line breaks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mail extends Schema.Struct.Type<typeof mailFields> {}

/**
 * Occurs when a mail could not be given to the server of mails. `isPermanent` says that the server has refused it, so that a retry
 * fails again; otherwise the server does not answer, or asks for a retry. `refused` has the addresses that the server has refused
 * where it has taken the mail for the others.
 *
 * @category errors
 * @since 0.1.0
 */
export class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", {
  detail: Schema.String,
  isPermanent: Schema.Boolean,
  refused: Schema.optional(Schema.Array(Schema.String))
}) {
  override get message(): string {
    return `The mail could not be sent: ${this.detail}`
  }
}
