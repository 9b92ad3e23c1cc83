/**
 * Mails of a service.
 *
 * **Details**
 *
 * `Mailer` gives one mail to a server of mails, now: `layerSmtp` by SMTP, `layer` by the one of the configuration, and
 * `layerLog` to the log, for development. A mail that follows from a write is a job: {@link enqueue} stores it in the transaction of the
 * write, and a service that registers {@link sending} sends it, again while the server does not answer. A mail has an identifier in its
 * header `Message-ID`, which is that of its job: programs that read mails show one that was sent twice once.
 *
 * SMTP needs the package `nodemailer`, which is installed beside AppKernel.
 *
 * **Example** (A mail for each order)
 *
 * ```ts check
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { EmbeddedStore, KernelEngine, Mailer, Model, Resource } from "appkernel"
 * import { Layer, Schema } from "effect"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), email: Schema.String }) {}
 *
 * const Orders = Resource.make(Order, { methods: ["GET", "POST"], transactional: true })
 *   .beforePost(({ email, id }) => Mailer.enqueue({ to: email, subject: "Your order", text: `We have your order ${id}.` }))
 *
 * const engine = KernelEngine.make("shop").register(Orders).register(Mailer.sending)
 *
 * engine.layer.pipe(Layer.provide([Mailer.layer, EmbeddedStore.layer]), engine.launch, NodeRuntime.runMain)
 * ```
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { configOf } from "../internal/configurationKeys.ts"
import { DeclarationError } from "../internal/declarationError.ts"
import type { DocumentStore } from "../Repository/DocumentStore.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"
import * as Job from "./Job.ts"
import { longestLine, type Mail, MailFailed, mailFields } from "./mail/mail.ts"

export { type Mail, MailFailed } from "./mail/mail.ts"

/**
 * Gives mails to a server of mails.
 *
 * @category services
 * @since 0.1.0
 */
export class Mailer extends Context.Service<Mailer, {
  /**
   * Gives a mail to the server. It is sent then, and may still come back. `id` is its identifier, the same for each attempt to send
   * it; defaults to one of its own.
   */
  readonly send: (mail: Mail, options?: { readonly id?: string | undefined }) => Effect.Effect<void, MailFailed>
}>()("appkernel/Jobs/Mailer") {}

/**
 * Options of {@link layerSmtp}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SmtpOptions {
  /** The server, with a name and a password: `smtps://name:password@mail.example.org`, or `smtp://` with STARTTLS where there is it. */
  readonly url: string | Redacted.Redacted<string>
  /** The sender of mails that name none: `Shop <shop@example.org>`. */
  readonly from: string
}

/**
 * Sends by SMTP. Connections are opened when there are mails. It dies with one line where `nodemailer` is not installed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSmtp = ({ from, url }: SmtpOptions): Layer.Layer<Mailer> =>
  Layer.effect(
    Mailer,
    Effect.gen(function*() {
      const { smtp } = yield* Effect.catchDefect(
        Effect.promise(() => import("./mail/smtp.ts")),
        (defect) =>
          Effect.die(
            Predicate.hasProperty(defect, "code") && defect.code === "ERR_MODULE_NOT_FOUND"
              ? new DeclarationError("Mails by SMTP need the package nodemailer: npm install nodemailer")
              : defect
          )
      )
      const send = yield* smtp(Redacted.isRedacted(url) ? Redacted.value(url) : url, from)
      return { send: (mail, { id } = {}) => send(mail, id) }
    })
  )

/**
 * Writes mails to the log, with their content, and sends none: for development.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLog: Layer.Layer<Mailer> = Layer.succeed(Mailer, {
  send: ({ html, subject, text, to }) =>
    Effect.annotateLogs(Effect.logInfo(`A mail: ${subject}`), {
      to: [to].flat().map((one) => typeof one === "string" ? one : `${one.name} <${one.address}>`).join(", "),
      text: text ?? html ?? ""
    })
})

/**
 * Sends by the server of `mail.url`, from `mail.from`. Without a server it is {@link layerLog}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Mailer, Config.ConfigError> = Layer.unwrap(
  Effect.gen(function*() {
    const url = yield* configOf("mail.url")
    return url === undefined ? layerLog : layerSmtp({ url, from: yield* configOf("mail.from") })
  })
)

/**
 * The job of a mail.
 *
 * @category models
 * @since 0.1.0
 */
export const job: Job.Job<"mail", Mail, MailFailed> = Job.make("mail", { payload: mailFields, error: MailFailed })

/**
 * Sends the mails of {@link enqueue}: for `KernelEngine.register`. A mail that the server refuses is a dead letter after all attempts.
 * Where it takes one for some of the recipients, only the others get it in the next attempts.
 *
 * @category models
 * @since 0.1.0
 */
export const sending: Job.Implementation<"mail", Mail, MailFailed, Mailer | DocumentStore> = job.implement(
  (mail, { id }) =>
    Mailer.use(({ send }) => send(mail, { id })).pipe(
      Effect.catchIf(
        // Nobody has got the mail where all to whom it was to go are refused.
        ({ refused = [] }) => refused.length > 0 && refused.length !== mail.only?.length,
        // The key is the same where a killed process comes here once more.
        ({ refused }) => enqueue({ ...mail, only: refused }, { key: `${id}.refused`, delay: "1 minute" })
      )
    )
)

/**
 * Stores a mail, in the transaction that there is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const enqueue = (mail: Mail, options?: Job.EnqueueOptions): Effect.Effect<void, StoreError, DocumentStore> =>
  job.enqueue(mail, options)

/**
 * The subject and the content of a mail from the texts of a language: those of `<key>.subject`, `<key>.text` and `<key>.html`. In
 * HTML the arguments are texts: what would be markup is escaped. A text that the language does not have is left out, and the key is the
 * subject then.
 *
 * **Example** (In the language of a customer)
 *
 * ```ts check
 * import { Mailer, Translations } from "appkernel"
 * import { Effect } from "effect"
 *
 * export const welcome = (to: string, name: string, language: string) =>
 *   Effect.gen(function*() {
 *     const { languageOf } = yield* Translations.Translations
 *     // "mails.welcome.subject": "Welcome, {name}", "mails.welcome.html": "<p>Hello {name}</p>"
 *     yield* Mailer.enqueue({ to, ...Mailer.written(languageOf(language), "mails.welcome", { name }) })
 *   })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const written = (
  language: { readonly text: (key: string, args?: Arguments) => string | undefined } | undefined,
  key: string,
  args: Arguments = {}
): Pick<Mail, "subject" | "text" | "html"> => {
  const [text, html] = [language?.text(`${key}.text`, args), language?.text(`${key}.html`, escaped(args))]
  return {
    // A subject is one line, whatever the arguments are.
    subject: (language?.text(`${key}.subject`, args) ?? key).replaceAll(/[\r\n\0]+/gu, " ").slice(0, longestLine),
    ...text === undefined ? {} : { text },
    ...html === undefined ? {} : { html }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Arguments {
  readonly [name: string]: string | number | Date | undefined
}

const escaped = (args: Arguments): Arguments =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replaceAll(/[&<>"']/gu, (one) => `&#${one.charCodeAt(0)};`) : value
    ])
  )
