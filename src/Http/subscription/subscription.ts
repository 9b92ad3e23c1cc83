/**
 * The streams of a typed client: connections one after the other, each of which begins where the one before has ended.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import type * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { DeclarationError } from "../../internal/declarationError.ts"
import { transientStatuses } from "../../internal/transientStatuses.ts"
import type * as Model from "../../Model/Model.ts"
import { byId, type changeMessages } from "../description/documents.ts"
import { isLogged } from "../description/standardEndpoints.ts"
import { Gone, statusOf } from "../HttpError.ts"
import type { Change, ListEvent, StreamOptions, WatchedChange } from "./collectionEvents.ts"

interface Request extends StreamOptions {
  readonly query?: object | undefined
  readonly after?: string | undefined
}

/** Connects once, with the parameters of a request. What ends in the middle is no failure. */
export type Connect = (query: { readonly offset: string }) => Stream.Stream<Batch, Failed>

/** Any failure of a call. */
interface Failed {
  readonly _tag: string
}

/** What a connection tells at once, and the place after it. */
interface Batch {
  readonly messages: Messages
  readonly position: string
}

export type MessagesSchema = ReturnType<typeof changeMessages>

type Messages = MessagesSchema["Type"]

/** A message of a document. */
type Told = Extract<Messages[number], { readonly key: string }>

/** Calls the endpoint of the changes. */
export type ChangesCall = (request: object) => Effect.Effect<unknown, Failed>

/** Connections with one answer, whose body does not end. */
export const byEvents = (messages: MessagesSchema, call: ChangesCall): Connect => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(messages)))
  return (query) =>
    Stream.unwrap(Effect.map(
      call({ query: { ...query, live: "sse" }, sseOptions: { maxEventSize: Infinity } }),
      (body) =>
        // The endpoint's description says what the body is.
        untilSilent(body as Stream.Stream<SentEvent, Failed>).pipe(
          Stream.catch(() => Stream.empty),
          Stream.mapEffect(({ data, event, id = query.offset }) =>
            event === "data"
              ? Effect.map(decode(data), (messages): Batch => ({ messages, position: id }))
              : Effect.succeed<Batch>({ messages: [], position: id })
          )
        )
    ))
}

/** Connections with an answer for each batch, for clients that read answers as a whole. */
export const byPolls = (call: ChangesCall): Connect => (query) =>
  Stream.unfold(query.offset, (offset) =>
    Effect.map(
      // Without a place, the first answer has it at once.
      call({
        query: { ...query, offset, ...offset === "now" ? {} : { live: "long-poll" } },
        responseMode: "decoded-and-response"
      }),
      (answer) => {
        // The endpoint's description says what the answer is.
        const [messages = [], { headers }] = answer as [Messages | undefined, HttpClientResponse.HttpClientResponse]
        const position = headers["stream-next-offset"] ?? offset
        return [{ messages, position }, position]
      }
    ))

/** The streams of a collection. */
export interface Streams {
  readonly changes: (request?: Request) => Stream.Stream<Change<unknown, unknown>, unknown>
  readonly live: (request?: Request) => Stream.Stream<ListEvent<unknown, unknown>, unknown>
}

export const streamsOf = (model: Model.Any, connect: Connect): Streams => {
  if (!isLogged(model)) return { changes: () => unlogged(model), live: () => unlogged(model) }
  const idOf = idReader(model)
  const follow = followed(({ key }) => idOf(key), connect)
  return {
    changes: (request = {}) => Stream.map(follow(request, false), changeOf),
    live: (request = {}) =>
      Stream.map(follow({ ...request, after: everything }, true), (told) => listEventOf(changeOf(told)))
  }
}

/** The changes of several collections, by their names. */
export const watchedOf = (models: ReadonlyMap<string, Model.Any>, connect: Connect) => {
  const readers = new Map(Array.from(models, ([name, model]) => [name, idReader(model)]))
  // The messages are decoded as those of these collections.
  const follow = followed(({ key, type }) => readers.get(type)!(key), connect)
  return (request: Request): Stream.Stream<WatchedChange<Watched>, unknown> =>
    Stream.map(follow(request, false), (told) =>
      told.operation === "reset"
        ? {
          ...told,
          items: Object.fromEntries(
            Array.from(models.keys(), (name) => [name, told.items.filter(({ type }) => type === name).map(valueOf)])
          )
        }
        : told)
}

// internal

/** A change with the name of its collection, and the documents of a reset as messages. */
type Followed =
  | (Exclude<Change<unknown, unknown>, { readonly operation: "reset" }> & { readonly collection: string })
  | { readonly operation: "reset"; readonly items: ReadonlyArray<Told>; readonly position: string }

interface Watched {
  readonly [name: string]: { readonly document: unknown; readonly id: unknown }
}

const idReader = (model: Model.Any) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecStringTree(byId(model)))
  return (key: string): Effect.Effect<unknown, Schema.SchemaError> => Effect.map(decode({ id: key }), ({ id }) => id)
}

const followed = (idOf: (told: Told) => Effect.Effect<unknown, Schema.SchemaError>, connect: Connect) => {
  /** The changes of messages, where `before` is the place before them. */
  const changesIn = Effect.fnUntraced(
    function*({ messages, position }: Batch, before: string) {
      const changes: Array<Followed> = []
      let items: Array<Told> | undefined
      for (const [i, message] of messages.entries()) {
        if (!("key" in message)) {
          const { control } = message.headers
          if (control === "snapshot-start") items = []
          if (control === "snapshot-end" && items !== undefined) {
            changes.push({ operation: "reset", items, position })
            items = undefined
          }
          continue
        }
        const { headers: { operation, timestamp, txid: transaction }, type: collection, value } = message
        if (items !== undefined) {
          items.push(message)
          continue
        }
        const time = timestamp === undefined ? undefined : DateTime.makeUnsafe(timestamp)
        const id = yield* idOf(message)
        const place = i === messages.length - 1 ? position : before
        const facts = { collection, id, position: place, transaction, time }
        changes.push(operation === "delete" ? { ...facts, operation } : { ...facts, operation, after: value })
      }
      return changes
    }
  )

  return ({ after = "now", query, reconnect = backoff }: Request, beginsAnew: boolean) =>
    Stream.suspend(() => {
      let position = after
      const batches = Stream.suspend(() => connect({ ...query, offset: position })).pipe(
        Stream.mapEffect((batch) =>
          Effect.tap(changesIn(batch, position), () =>
            Effect.sync(() => {
              position = batch.position
            }))
        ),
        Stream.concat(Stream.fail(ended)),
        Stream.catch((error) => {
          if (!beginsAnew || !(error instanceof Gone)) return Stream.fail(error)
          position = everything
          return Stream.fail<Failed>(ended)
        }),
        Stream.retry(passing(reconnect)),
        Stream.catch((error) => error === ended ? Stream.empty : Stream.fail(error))
      )
      return Stream.transformPull(batches, (pull) => Effect.succeed(flattened(pull)))
    })
}

const valueOf = ({ value }: Told): unknown => value

/** A change of the only collection. */
const changeOf = (told: Followed): Change<unknown, unknown> => {
  if (told.operation === "reset") return { ...told, items: told.items.map(valueOf) }
  const { collection: _, ...change } = told
  return change
}

interface SentEvent {
  readonly event: string
  readonly id?: string | undefined
  readonly data: string
}

/** The time without a sign of life after which a connection counts as broken. */
const maxSilence = "1 minute"

/** The place before all documents. */
const everything = "-1"

/** Why a stream connects again that did not fail. */
const ended = { _tag: "Ended" } as const

/** Clients that have lost the same service do not come back all at once. */
const backoff: Schedule.Schedule<unknown> = Schedule.modifyDelay(
  Schedule.exponential("500 millis"),
  ({ duration }) =>
    Effect.map(Random.next, (next) => Math.min(Duration.toMillis(duration), 30_000) * (0.8 + 0.4 * next))
)

/** Waits for as long as the service asks for. */
const passing = (reconnect: Schedule.Schedule<unknown>): Schedule.Schedule<unknown> =>
  reconnect.pipe(
    Schedule.while(({ input }) => Effect.succeed(mayPass(input))),
    Schedule.modifyDelay(({ duration, input }) => Effect.succeed(Math.max(Duration.toMillis(duration), waitOf(input))))
  )

const mayPass = (error: unknown): boolean => {
  if (error === ended) return true
  const status = statusIn(error)
  return status === undefined ? isOfNetwork(error) : transientStatuses.has(status)
}

/** The status of the answer that an error is. */
const statusIn = (error: unknown): number | undefined => {
  if (!Predicate.hasProperty(error, "_tag")) return undefined
  const { _tag: tag } = error
  if (tag === "UpstreamError" && Predicate.hasProperty(error, "code")) return Number(error.code)
  if (Predicate.isString(tag) && Object.hasOwn(statusOf, tag)) return statusOf[tag as keyof typeof statusOf]
  if (tag === "HttpClientError" && Predicate.hasProperty(error, "response") && error.response !== undefined) {
    return Predicate.hasProperty(error.response, "status") ? Number(error.response.status) : undefined
  }
  return Predicate.hasProperty(error, "reason") && Predicate.hasProperty(error.reason, "statusCode")
    ? Number(error.reason.statusCode)
    : undefined
}

const isOfNetwork = (error: unknown): boolean => {
  const reason = tagOf(Predicate.hasProperty(error, "reason") ? error.reason : undefined)
  switch (tagOf(error)) {
    case "CircuitOpenError":
      return true
    case "HttpClientError":
      return reason === "TransportError"
    case "RequestHandlingException":
      return !final.has(reason)
    default:
      return false
  }
}

const tagOf = (value: unknown): unknown => Predicate.hasProperty(value, "_tag") ? value._tag : undefined

/** Reasons of failed calls that stay. */
const final: ReadonlySet<unknown> = new Set(["NotRepeatable", "InvalidRequest", "InvalidAnswer", "Closed"])

/** How long the service asks to wait, in milliseconds. */
const waitOf = (error: unknown): number => {
  if (Predicate.hasProperty(error, "retry_after")) return Number(error.retry_after) * 1_000
  const own = Predicate.hasProperty(error, "reason") && Predicate.hasProperty(error.reason, "retryAfter")
    ? error.reason
    : error
  return Predicate.hasProperty(own, "retryAfter") && Duration.isDuration(own.retryAfter)
    ? Duration.toMillis(own.retryAfter)
    : 0
}

const untilSilent = <A, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E> =>
  Stream.transformPull(
    stream,
    (pull) => Effect.succeed(Effect.timeoutOrElse(pull, { duration: maxSilence, orElse: () => Cause.done() }))
  )

/** What a pull of lists has, without empty ones. */
const flattened = <A, E>(
  pull: Pull.Pull<ReadonlyArray<ReadonlyArray<A>>, E>
): Pull.Pull<readonly [A, ...Array<A>], E> =>
  Effect.flatMap(pull, (lists) => {
    const all = lists.flat()
    // It is not empty.
    return all.length === 0 ? flattened(pull) : Effect.succeed(all as unknown as readonly [A, ...Array<A>])
  })

const listEventOf = (change: Change<unknown, unknown>): ListEvent<unknown, unknown> => {
  if (change.operation === "reset") return { event: "state", items: change.items, position: change.position }
  const { id, position, time, transaction } = change
  const facts = { id, position, time, transaction }
  return change.operation === "delete"
    ? { ...facts, event: "leave" }
    : { ...facts, event: change.operation === "insert" ? "enter" : "change", item: change.after }
}

const unlogged = ({ modelName }: Model.Any): Stream.Stream<never> =>
  Stream.die(new DeclarationError(`${modelName} needs the option logged`))
