/**
 * Webhooks: what happens to documents, told to other services.
 *
 * **Details**
 *
 * `KernelEngine.enableWebhooks` names the events of a service, such as `order.created`. Whoever wants to be told of some makes a
 * {@link Subscription} with the address of a receiver. An event is known by the log of changes, which has what is committed and
 * nothing else. A job delivers it to each subscription, with what the owner of the subscription may read at that time: nothing
 * is sent of a document that the owner may not read then.
 *
 * A delivery is a `POST` of an event in the JSON of CloudEvents 1.0, signed as Standard Webhooks 1.0 says. What has become of it
 * is a document of the model {@link Delivery}.
 *
 * **Example** (Subscriptions over HTTP, for those who make them)
 *
 * ```ts check
 * import { Authenticated, KernelEngine, Model, Resource, Webhooks } from "appkernel"
 * import { Schema } from "effect"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), total: Schema.Int }, { logged: true }) {}
 *
 * const Orders = Resource.make(Order, { methods: ["GET", "POST"] }).require(Authenticated)
 *
 * const Subscriptions = Resource.make(Webhooks.Subscription, { methods: ["GET", "POST", "PATCH", "DELETE"] })
 *   .grant(Authenticated, { rows: (me) => ($) => $.owner.equals(me.subject) })
 *
 * const engine = KernelEngine.make("shop")
 *   .register(Orders)
 *   .register(Subscriptions, { segment: "subscriptions" })
 *   .enableSecurity()
 *   .enableWebhooks({ "order.created": Orders })
 * ```
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomBytes, randomUUID } from "node:crypto"
import * as Index from "../Model/FieldIndex.ts"
import * as Generator from "../Model/Generator.ts"
import * as Model from "../Model/Model.ts"
import * as Validator from "../Model/Validator.ts"
import { DocumentStore } from "../Repository/DocumentStore.ts"
import { DocumentNotFound, type StoreError } from "../Repository/RepositoryError.ts"
import { CurrentUser } from "../Security/CurrentUser.ts"
import * as Job from "./Job.ts"

/**
 * The options of `KernelEngine.enableWebhooks`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the `source` of events begins with, before the path of their resource: `https://shop.example.org`. Defaults to nothing. */
  readonly source?: string | undefined
  /**
   * The delays after the attempts of a delivery that have failed. Defaults to 5 seconds, 5 and 30 minutes, and 2, 5, 10, 14, 20
   * and 24 hours: ten attempts in three days.
   */
  readonly delays?: ReadonlyArray<Duration.Input> | undefined
  /** The time that a receiver has to answer. Defaults to 15 seconds. */
  readonly timeout?: Duration.Input | undefined
  /**
   * A subscription is disabled after so many failures without a success between them. Attempts that fail together count once. The
   * pauses between them grow to an hour, so that 80, the default, are three days.
   */
  readonly maxFailures?: number | undefined
  /**
   * How many deliveries a process makes at a time: at most a quarter of them for one subscription, half of them for one owner,
   * and one for a receiver that fails. Defaults to 16, and is at least 2.
   */
  readonly concurrency?: number | undefined
  /**
   * Networks of receivers besides the public internet: `["10.1.0.0/16"]`. Loopback, private, link-local and all other special
   * addresses are refused otherwise, whatever name leads to them. Defaults to none.
   */
  readonly networks?: ReadonlyArray<string> | undefined
  /** Whether receivers may have `http:` addresses, which anybody on the way reads. Defaults to false. */
  readonly insecure?: boolean | undefined
}

/** Without credentials, and not of port 0. What else is no address of a receiver fails when something is sent there. */
const receiver = /^https?:\/\/(?:[^\s/?#@:[\]\\]+|\[[\da-fA-F:.]+\])(?::[1-9]\d{0,4})?(?:[/?#]\S*)?$/u

/**
 * Who is told of which events. The service registers it as a resource, with grants of its own: whoever may change a subscription
 * gets what its owner may read.
 *
 * @category models
 * @since 0.1.0
 */
export class Subscription extends Model.Class<Subscription>()("WebhookSubscription", {
  id: Model.id({ prefix: "WS" }),
  /** The address of the receiver. It has no credentials, and its path need not be known to others. */
  url: Schema.String.pipe(Validator.regexp(receiver), Validator.max(2_000)),
  /** The types of events: `order.created`. Those that the service does not have never occur. */
  types: Schema.Array(Schema.String).pipe(Validator.notEmpty, Validator.max(100), Model.indexed(Index.plain)),
  /** Whether events are delivered. Those that occur meanwhile are not delivered later. */
  enabled: Schema.Boolean.pipe(Model.withDefault(() => true)),
  /** With which deliveries are signed: `whsec_` and 24 to 64 bytes in Base64. It is shown to nobody; {@link rotate} tells a new one. */
  secret: Schema.String.pipe(
    Validator.regexp(
      /^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,20}[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/][AQgw]==)?)$/u
    ),
    Model.generated(Effect.sync(() => newSecret())),
    Model.omitted
  ),
  /** With which deliveries are signed as well, each until its end: the last four, the newest first. */
  earlier_secrets: Schema.Array(Schema.Struct({ secret: Schema.String, until: Model.DateTime })).pipe(
    Model.optional,
    Model.omitted,
    Model.readOnly
  ),
  /** The end of the secret before this one. */
  earlier_until: Model.DateTime.pipe(Model.optional, Model.readOnly),
  /** The subject of the user who has made it, whose rights deliveries have, without claims. Without one they have those of everybody. */
  owner: Schema.String.pipe(
    Model.optional,
    Model.generated(Generator.currentUserId),
    Model.readOnly,
    Model.indexed(Index.plain)
  ),
  /** The roles of the credentials with which it was made: deliveries have no other ones. */
  roles: Schema.Array(Schema.String).pipe(
    Model.optional,
    Model.generated(Effect.map(CurrentUser.option, (user) => Option.getOrUndefined(user)?.roles)),
    Model.omitted,
    Model.readOnly
  ),
  /** The number of failures without a success between them. */
  failures: Schema.Int.pipe(Model.withDefault(() => 0), Model.readOnly),
  /** The time until which nothing is sent, after a failure. */
  paused_until: Model.DateTime.pipe(Model.optional, Model.readOnly),
  /** Why the service has disabled it. */
  reason: Schema.String.pipe(Model.optional, Model.readOnly),
  created: Model.DateTime.pipe(Model.generated(Generator.dateNow), Model.readOnly)
}) {}

/**
 * What has become of the delivery of an event to a subscription, for 30 days after its last attempt: a read-only view, whose
 * write is {@link sendAgain}. There is none before the first attempt.
 *
 * @category models
 * @since 0.1.0
 */
export class Delivery extends Model.Class<Delivery>()("WebhookDelivery", {
  id: Schema.String,
  subscription: Schema.String.pipe(Model.indexed(Index.plain)),
  /** That of the subscription. */
  owner: Schema.String.pipe(Model.optional, Model.indexed(Index.plain)),
  /** The identifier of the event: the `id` that the receiver gets, and its `webhook-id`. */
  event: Schema.String,
  /** The type of the event. */
  event_type: Schema.String,
  /** The identifier of the document; empty as long as it is not known whether the owner may read it. */
  subject: Schema.String,
  /** `delivered`, `retrying` after `next`, or `failed` for good. */
  state: Schema.Literals(["delivered", "retrying", "failed"]),
  /** The number of attempts. */
  attempts: Schema.Int,
  /** The status of the last answer, if there was one. */
  status: Schema.Int.pipe(Model.optional),
  /** How the last attempt has failed. */
  failure: Schema.String.pipe(Model.optional),
  /** When the last attempt ended. */
  at: Model.DateTime.pipe(Model.indexed(Index.expireAfter("30 days"))),
  /** When the next attempt is due. */
  next: Model.DateTime.pipe(Model.optional),
  /** What the job of it has to know, as a JSON text. */
  payload: Schema.String.pipe(Model.omitted)
}, {
  // The newest that have failed, and their number.
  indexes: [Index.compound({ state: 1, at: 1 })]
}) {}

/**
 * What a job knows of a delivery.
 *
 * @category models
 * @since 0.1.0
 */
export const payload = {
  subscription: Schema.String,
  /** The identifier of the event. */
  event: Schema.String,
  type: Schema.String,
  /** The identifier of the document. */
  subject: Schema.String,
  /** When it occurred. */
  time: Schema.String,
  /** Of a deleted document, what it was, without the fields that its model omits: BSON in Base64. */
  before: Schema.optional(Schema.String),
  /** Of an updated document, the fields that have changed, and of nested ones their parts: `address.city`. */
  changed: Schema.optional(Schema.Array(Schema.String)),
  /** 1 for the first attempt. */
  attempt: Schema.Int,
  /** Of one that is sent again, what tells its attempts from the earlier ones. */
  run: Schema.optional(Schema.String)
}

/**
 * The job of a delivery. An attempt that fails is no failure of the job: it enqueues the next one.
 *
 * @category models
 * @since 0.1.0
 */
export const job: Job.Job<"webhook", Schema.Struct<typeof payload>["Type"], never> = Job.make("webhook", { payload })

/**
 * Gives a subscription a new secret, and returns it. Deliveries are signed with the one of before as well for a time, by default a
 * day, so that its receiver may know either of them. An `overlap` of 0 ends all earlier ones at once.
 *
 * **Example** (As an action of the resource)
 *
 * ```ts check
 * import { Authenticated, Resource, Webhooks } from "appkernel"
 * import { Schema } from "effect"
 *
 * export const Subscriptions = Resource.make(Webhooks.Subscription, { methods: ["GET", "POST", "PATCH", "DELETE"] })
 *   .grant(Authenticated, { rows: (me) => ($) => $.owner.equals(me.subject) })
 *   .action("rotate", { method: "POST", success: Schema.String, require: Authenticated }, ({ id }) => Webhooks.rotate(id))
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const rotate = Effect.fn("Webhooks.rotate")(function*(
  id: string,
  { overlap = "1 day" }: { readonly overlap?: Duration.Input | undefined } = {}
): Effect.fn.Return<string, StoreError | DocumentNotFound, DocumentStore> {
  const store = yield* DocumentStore
  const secret = newSecret()
  const millis = Duration.toMillis(Duration.fromInputUnsafe(overlap))
  const until = DateTime.toDateUtc(DateTime.makeUnsafe((yield* Clock.currentTimeMillis) + millis))
  for (;;) {
    const known = yield* store.findById(Subscription.modelName, id)
    if (known === undefined) return yield* new DocumentNotFound({ model: Subscription.modelName, id })
    const { earlier_secrets: earlier, secret: current } = known
    const others: ReadonlyArray<unknown> = Array.isArray(earlier) ? earlier : []
    const { matchedCount } = yield* store.updateOne(Subscription.modelName, { _id: id, secret: current }, {
      $set: {
        earlier_secrets: millis === 0 ? [] : [{ secret: current, until }, ...others].slice(0, maxEarlier),
        earlier_until: until,
        secret
      }
    })
    // Otherwise somebody has rotated it meanwhile, whose secret is kept as well.
    if (matchedCount > 0) return secret
  }
})

/**
 * Delivers an event again, by the identifier of its {@link Delivery}, with the `webhook-id` of before and with what the owner
 * may read now. Returns whether there is such a delivery.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sendAgain = Effect.fn("Webhooks.sendAgain")(function*(
  id: string
): Effect.fn.Return<boolean, StoreError, DocumentStore> {
  const store = yield* DocumentStore
  const known = yield* store.findById(Delivery.modelName, id)
  if (known === undefined) return false
  const run = randomUUID()
  // It was written as the JSON of one.
  const before = JSON.parse(String(known["payload"])) as Schema.Struct<typeof payload>["Type"]
  yield* job.enqueue({ ...before, attempt: 1, run }, { key: run })
  return true
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxEarlier = 4

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`
