/** Sends mails by SMTP, with nodemailer. Only programs that do so load it. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { createTransport } from "nodemailer"
import { DeclarationError } from "../../internal/declarationError.ts"
import { type Mail, MailFailed } from "./mail.ts"

/** Opens connections when there are mails, and closes them with the scope. `id` is that of the mail in the outside world. */
export const smtp = (
  url: string,
  sender: string
): Effect.Effect<(mail: Mail, id: string | undefined) => Effect.Effect<void, MailFailed>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.suspend(() =>
        URL.canParse(url) ? Effect.sync(() => createTransport({ url, pool: true, ...times })) : Effect.die(unreadable)
      ),
      (transport) => Effect.sync(() => transport.close())
    ),
    (transport) => ({ bcc, cc, only, replyTo, to, ...mail }, id) => {
      const from = mail.from ?? sender
      const sent = Effect.tryPromise({
        try: () =>
          transport.sendMail({
            ...mail,
            to: listOf(to),
            ...cc === undefined ? {} : { cc: listOf(cc) },
            ...bcc === undefined ? {} : { bcc: listOf(bcc) },
            ...replyTo === undefined ? {} : { replyTo: listOf(replyTo) },
            from,
            ...only === undefined ? {} : { envelope: { from: addressOf(from), to: [...only] } },
            ...id === undefined ? {} : { messageId: `<${encodeURIComponent(id)}@${domainOf(addressOf(from))}>` },
            // A text of a caller names no file and no address to read.
            disableFileAccess: true,
            disableUrlAccess: true
          }),
        catch: failureOf
      })
      return Effect.flatMap(
        sent,
        ({ rejected, rejectedErrors = [] }) =>
          rejected.length === 0 ? Effect.void : Effect.fail(
            new MailFailed({
              detail: `the server refuses ${rejected.map(addressOf).join(", ")}: ${rejectedErrors[0]?.message ?? ""}`,
              isPermanent: rejectedErrors.length > 0 && rejectedErrors.every(isPermanent),
              refused: rejected.map(addressOf)
            })
          )
      )
    }
  )

// internal

// Without the address, which has a password.
const unreadable = new DeclarationError(
  "The address of the mail server (mail.url) is no URL: special characters of its password are percent-encoded"
)

const times = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000 }

type Address = string | { readonly name: string; readonly address: string }

const listOf = (addresses: Address | ReadonlyArray<Address>) => [addresses].flat()

const addressOf = (address: Address): string => typeof address === "string" ? address : address.address

const domainOf = (address: string): string => /@([\w.-]+)/u.exec(address)?.[1] ?? "localhost"

const failureOf = (cause: unknown): MailFailed => {
  const isLocal = Predicate.hasProperty(cause, "code") && cause.code === "EENVELOPE" && codeOf(cause) === 0
  return new MailFailed({
    detail: cause instanceof Error ? cause.message : String(cause),
    isPermanent: isPermanent(cause) || isLocal
  })
}

/** RFC 5321, section 4.2.1: a reply of the class 5 is permanent. */
const isPermanent = (cause: unknown): boolean => codeOf(cause) >= 500

const codeOf = (cause: unknown): number => Predicate.hasProperty(cause, "responseCode") ? Number(cause.responseCode) : 0
