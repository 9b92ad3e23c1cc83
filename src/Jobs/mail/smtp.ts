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
  from: string
): Effect.Effect<(mail: Mail, id: string | undefined) => Effect.Effect<void, MailFailed>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.suspend(() =>
        URL.canParse(url) ? Effect.sync(() => createTransport({ url, pool: true, ...times })) : Effect.die(unreadable)
      ),
      (transport) => Effect.sync(() => transport.close())
    ),
    (transport) => ({ bcc, cc, replyTo, to, ...mail }, id) =>
      Effect.asVoid(Effect.tryPromise({
        try: () =>
          transport.sendMail({
            ...mail,
            to: [to].flat(),
            ...cc === undefined ? {} : { cc: [cc].flat() },
            ...bcc === undefined ? {} : { bcc: [bcc].flat() },
            ...replyTo === undefined ? {} : { replyTo: [replyTo].flat() },
            from: mail.from ?? from,
            ...id === undefined ? {} : { messageId: `<${encodeURIComponent(id)}@${domainOf(mail.from ?? from)}>` },
            // A text of a caller names no file and no address to read.
            disableFileAccess: true,
            disableUrlAccess: true
          }),
        catch: failureOf
      }))
  )

// internal

// Without the address, which has a password.
const unreadable = new DeclarationError(
  "The address of the mail server (mail.url) is no URL: special characters of its password are percent-encoded"
)

const times = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000 }

const domainOf = (address: string): string => /@([\w.-]+)/u.exec(address)?.[1] ?? "localhost"

/** RFC 5321, section 4.2.1: a reply of the class 5 is permanent. */
const failureOf = (cause: unknown): MailFailed => {
  const code = Predicate.hasProperty(cause, "responseCode") ? Number(cause.responseCode) : 0
  const isLocal = Predicate.hasProperty(cause, "code") && (cause.code === "EENVELOPE" && code === 0)
  return new MailFailed({
    detail: cause instanceof Error ? cause.message : String(cause),
    isPermanent: code >= 500 || isLocal
  })
}
