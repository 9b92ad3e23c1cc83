/**
 * The stream of a collection's changes, by the read path of Durable Streams: a page of them, a request that waits for some, or a
 * body of events without an end.
 *
 * A stream that begins without a place, or with one that was read with other rights, first tells all documents of the list.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { EJSON } from "bson"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import type { ModelView } from "../../Access/introspection.ts"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { countedAddressOf, currentClientAddress } from "../../internal/clientAddress.ts"
import { currentUserIdOf } from "../../internal/currentUser.ts"
import { managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Position } from "../../Repository/DocumentStore.ts"
import { listAt, modelMatcher, rejectUnsuitable } from "../../Repository/evaluation.ts"
import { AccessDecision, conjunctionOf, documentOperationsOf, identifierOf } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { PositionGone, ReadError } from "../../Repository/RepositoryError.ts"
import { Lifetimes } from "../../Security/SignIns.ts"
import { changesParameters, filterNamesOf, pagingParameters } from "../description/queryParameters.ts"
import { Gone, NotImplemented } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { englishOf, translatable } from "../messages/message.ts"
import { namingOf } from "../query/maskedNaming.ts"
import * as QueryGuard from "../query/nativeQuery.ts"
import { queryReader } from "../query/parameterReader.ts"
import * as UrlQuery from "../query/urlQuery.ts"
import type { CallFailure, ResponseEffect } from "../response/callFailures.ts"
import * as responses from "../response/json.ts"
import type { Representations } from "../response/representation.ts"
import type { BadRequestResponder } from "../response/translation.ts"
import type { Channel, Subscriber } from "./channel.ts"
import { DecideAgain } from "./decideAgain.ts"
import type { LiveStreams } from "./liveStreams.ts"
import {
  controlEvent,
  controlMessage,
  cursorAt,
  dataEvent,
  errorEvent,
  messageOf,
  type MessageView,
  offsetOf,
  readOffset,
  stateMessage
} from "./messages.ts"

/** @internal */
export interface ChangesContext {
  readonly name: string
  readonly path: string
  readonly model: Model.Any
  readonly repository: Repository<Model.Any>
  readonly representations: Representations
  readonly view: ModelView
  readonly limits: Limits
  readonly live: LiveStreams
  readonly respondBadRequest: BadRequestResponder
  /** Runs before a read, and may refuse it. */
  readonly before: Effect.Effect<void, CallFailure> | undefined
  /** Whether a hook has to run after reads. */
  readonly isHookedAfter: boolean
}

/**
 * The handler of the requests of callers with the same fields.
 *
 * @internal
 */
export const changesRoute = (
  context: ChangesContext
): (parameters: UrlQuery.Parameters, fiber: Fiber.Fiber<unknown, unknown>) => ResponseEffect => {
  const { before, isHookedAfter, live, respondBadRequest } = context
  const read = requestReader(context)
  return (parameters, fiber) =>
    Effect.gen(function*() {
      if (isHookedAfter) return yield* unhooked
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const asked = read(parameters, fiber)
      if (Result.isFailure(asked)) {
        const forbidden = QueryGuard.forbiddenOf(asked.failure)
        return forbidden === undefined ? yield* respondBadRequest(asked.failure) : yield* forbidden
      }
      if (before !== undefined) yield* before
      const { mode } = asked.success
      const offset = mode === "sse" ? request.headers["last-event-id"] ?? asked.success.offset : asked.success.offset
      const scope = Context.getUnsafe(fiber.context, Scope.Scope)
      if (mode !== "page" && request.method !== "HEAD") {
        yield* Scope.provide(live.admit(callerOf(fiber, yield* currentClientAddress)), scope)
      }
      const started = yield* begin(context, asked.success, request.method === "HEAD" ? "now" : offset)
      if (Result.isFailure(started)) return yield* respondBadRequest([started.failure])
      const decide = decideLater(fiber, request, live)
      const stream: Begun = { ...asked.success, ...context, ...started.success, scope, fiber, decide }
      if (mode === "page" || request.method === "HEAD") {
        return yield* page(stream, request.headers["if-none-match"], offset)
      }
      // The request may have been let in by facts that are as old as the delay; a stream may not.
      const changed = decide === undefined ? undefined : yield* decidedOtherwise(stream, decide)
      if (changed !== undefined) {
        return changed.response ?? (yield* resetResponse(stream))
      }
      return yield* mode === "sse" ? events(stream) : poll(stream)
    })
}

// -----------------------------------------------------------------------------
// requests
// -----------------------------------------------------------------------------

interface Asked {
  readonly mode: "page" | "sse" | "long-poll"
  readonly offset: string | undefined
  readonly cursor: string | undefined
  readonly query: UrlQuery.UrlQuery
  readonly seen: MessageView
  readonly rights: string
  /** The same for all who see the same. */
  readonly key: string
}

const requestReader = (context: ChangesContext) => {
  const { limits, model, name, path, representations, view } = context
  const readQuery = UrlQuery.make(view.model, limits)
  const readOwn = queryReader(changesParameters, "is not a parameter of the changes")
  const fields = new Set(filterNamesOf(view.model))
  const { print } = identifierOf(model)
  const own = new Set(Object.keys(changesParameters))
  const deleted = managedField(model, "deleted")
  const existing = deleted === undefined ? undefined : { [deleted]: null }
  return (
    parameters: UrlQuery.Parameters,
    fiber: Fiber.Fiber<unknown, unknown>
  ): Result.Result<Asked, ReadonlyArray<Problem>> => {
    const entries = Object.entries(parameters)
    const protocol = readOwn(Object.fromEntries(entries.filter(([name]) => own.has(name))))
    if (Result.isFailure(protocol)) return Result.fail(protocol.failure)
    const paging = entries.filter(([name]) => pagingParameters.has(name) && !fields.has(name))
    if (paging.length > 0) {
      return Result.fail(
        paging.map(([field]) =>
          new Problem({ field, validator: "Parameter", message: "is not a parameter of the changes" })
        )
      )
    }
    const filters = Object.fromEntries(entries.filter(([name]) => !own.has(name)))
    const read = readQuery(filters, namingOf(model, view.of(fiber).partlyHidden))
    if (Result.isFailure(read)) return Result.fail(read.failure)
    const query = read.success
    const unsuitable = rejectUnsuitable(query.filter)
    if (unsuitable !== undefined) {
      return Result.fail([
        new Problem({ field: "query", validator: "Query", message: unsuitable.replaceAll("in a rule", "here") })
      ])
    }
    const decision = Context.get(fiber.context, AccessDecision)
    const rights = rightsOf(decision)
    const representation = representations(fiber)
    const { cursor, live = "page", offset } = protocol.success
    return Result.succeed({
      mode: live,
      offset,
      cursor,
      query,
      rights: digestOf(rights),
      key: `${path}\n${rights}\n${query.fields?.join() ?? ""}\n${EJSON.stringify(query.filter)}`,
      seen: {
        type: name,
        sees: modelMatcher(model, conjunctionOf(query.filter, decision?.endpoint?.rows.rows("read"), existing)),
        textOf: query.fields === undefined ? representation.textOf : representation.textBy(query.fields),
        keyOf: (id) => print(id)
      }
    })
  }
}

/** What the caller may see, as a text: the same text, the same documents with the same fields and links. */
const rightsOf = (decision: AccessDecision | undefined): string => {
  const own = decision?.endpoint
  return own === undefined ? "" : EJSON.stringify([
    own.read.map(({ fields, id, rows }) => [id, fields ?? null, rows ?? null]),
    own.rows.rows("read") ?? null,
    own.links?.endpoints ?? null
  ])
}

const digests = new BoundedCache<string>(1_024)

const digestOf = (rights: string): string =>
  rights === "" ? "" : digests.getOrMake(rights, () => createHash("sha256").update(rights).digest("hex").slice(0, 16))

const callerOf = (fiber: Fiber.Fiber<unknown, unknown>, address: string | undefined): string => {
  const subject = currentUserIdOf(fiber)
  return subject === undefined ? `address:${countedAddressOf(address ?? "unknown")}` : `user:${subject}`
}

const unhooked = Effect.suspend(() =>
  Effect.fail(new NotImplemented({ message: "The changes are not streamed, since a hook runs after each read" }))
)

// -----------------------------------------------------------------------------
// where a stream begins
// -----------------------------------------------------------------------------

interface Start {
  /** What comes before the changes. */
  readonly first: ReadonlyArray<string>
  readonly position: Position
}

interface Begun extends Asked, Start, ChangesContext {
  readonly scope: Scope.Scope
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Decides again on the request. `undefined`: everybody may see everything. */
  readonly decide: Effect.Effect<Decided> | undefined
}

const begin = (
  context: ChangesContext,
  asked: Asked,
  offset: string | undefined
): Effect.Effect<Result.Result<Start, Problem>, CallFailure> => {
  const { changes } = context.live.store
  if (offset === "now") return Effect.map(changes.end, (position) => Result.succeed({ first: [], position }))
  if (offset === undefined || offset === "-1") return state(context, asked, [])
  const place = readOffset(offset)
  if (place === undefined) {
    return Effect.succeed(
      Result.fail(new Problem({ field: "offset", validator: "Parameter", message: "is not a place in these changes" }))
    )
  }
  if (place.rights !== asked.rights) return state(context, asked, [controlMessage("reset")])
  return Effect.as(
    unlessGone(changes.read([context.model.modelName], { after: place.position, limit: 1 })),
    Result.succeed({ first: [], position: place.position })
  )
}

const unlessGone = <A>(effect: Effect.Effect<A, ReadError | PositionGone>): Effect.Effect<A, ReadError | Gone> =>
  Effect.catchTag(effect, "PositionGone", () => Effect.fail(gone))

const gone = translatable(new Gone({ message: englishOf("errors.PositionGone") }), "errors.PositionGone")

/** The documents of the list as they are at a place, as messages. */
const state = Effect.fnUntraced(function*(
  { limits, live, model, repository }: ChangesContext,
  { query, seen }: Asked,
  before: ReadonlyArray<string>
): Effect.fn.Return<Result.Result<Start, Problem>, CallFailure> {
  const { find, lifted } = documentOperationsOf(repository)
  const list = yield* unlessGone(listAt(live.store, {
    modelName: model.modelName,
    find: find({
      filter: query.filter,
      sort: { _id: 1 },
      limit: limits.maxResults + 1,
      timeLimit: limits.queryTimeout
    }),
    lifted,
    sees: seen.sees
  }))
  const texts = list.documents.flatMap((document) => {
    const text = seen.textOf(document)
    return text === undefined ? [] : [stateMessage(seen, document, text)]
  })
  let length = 0
  for (const text of texts) length += text.length
  // A list that was cut is not whole, though documents have left it since.
  return Math.max(list.found, texts.length) > limits.maxResults || length > limits.maxPageBytes
    ? Result.fail(
      new Problem({
        field: "offset",
        validator: "Limit",
        message: `would begin with more than ${limits.maxResults} documents or ${limits.maxPageBytes} bytes: ` +
          "narrow the list, or begin with offset=now"
      })
    )
    : Result.succeed({
      first: [...before, controlMessage("snapshot-start"), ...texts, controlMessage("snapshot-end")],
      position: list.position
    })
})

const pageSize = 256

// -----------------------------------------------------------------------------
// one page
// -----------------------------------------------------------------------------

interface Page {
  readonly messages: ReadonlyArray<string>
  readonly position: Position
  readonly isUpToDate: boolean
}

/** Reads until there is something to tell. */
const readPage = Effect.fnUntraced(function*(
  { live, model, repository, seen }: Begun,
  after: Position
): Effect.fn.Return<Page, ReadError | Gone> {
  const { lifted } = documentOperationsOf(repository)
  let position = after
  while (true) {
    const page = yield* unlessGone(live.store.changes.read([model.modelName], { after: position, limit: pageSize }))
    const messages = page.changes.flatMap((change) => messageOf(seen, lifted(change)) ?? [])
    position = page.position
    if (messages.length > 0 || page.isUpToDate) return { messages, position, isUpToDate: page.isUpToDate }
  }
})

const headersOf = (offset: string, isUpToDate: boolean, cursor?: string): { readonly [name: string]: string } => ({
  "cache-control": noStore,
  "stream-next-offset": offset,
  ...isUpToDate ? { "stream-up-to-date": "true" } : {},
  ...cursor === undefined ? {} : { "stream-cursor": cursor }
})

const noStore = "private, no-store"

const page = (stream: Begun, ifNoneMatch: string | undefined, offset: string | undefined): ResponseEffect =>
  Effect.gen(function*() {
    const { first, position, rights } = stream
    const read = first.length > 0 || offset === "now"
      ? { messages: first, position, isUpToDate: true }
      : yield* readPage(stream, position)
    const next = offsetOf(read.position, rights)
    const headers = headersOf(next, read.isUpToDate)
    if (offset === "now") return responses.json("[]", 200, headers)
    const etag = `"${offset ?? "-1"}:${next}"`
    return ifNoneMatch === etag
      ? HttpServerResponse.empty({ status: 304, headers: { ...headers, etag } })
      : responses.json(`[${read.messages.join()}]`, 200, { ...headers, etag })
  })

// -----------------------------------------------------------------------------
// a page that is waited for
// -----------------------------------------------------------------------------

const poll = (stream: Begun): ResponseEffect =>
  Effect.gen(function*() {
    const { first, live } = stream
    let read: Page = first.length > 0
      ? { messages: first, position: stream.position, isUpToDate: true }
      : yield* readPage(stream, stream.position)
    if (read.messages.length > 0) return yield* polled(stream, read)
    const { channel, subscriber } = yield* subscribed(stream)
    // What was written before the channel began is not in it.
    do {
      read = yield* readPage(stream, read.position)
      if (read.messages.length > 0) return yield* polled(stream, read)
    } while (!channel.isHeldAfter(read.position))
    channel.join(subscriber, read.position)
    let position = read.position
    const next = Effect.gen(function*() {
      while (subscriber.ended === undefined) {
        const entries = channel.take(subscriber, maxChunk)
        // It has fallen behind what is held, and the next request reads on.
        if (entries === undefined) return { messages: [], position, isUpToDate: false }
        const messages = entries.flatMap((entry) => entry.messages)
        position = entries.at(-1)?.next ?? position
        if (messages.length > 0) return { messages, position, isUpToDate: entries.at(-1)!.isUpToDate }
        yield* channel.wait(subscriber)
      }
      return undefined
    })
    const found = Option.getOrUndefined(yield* Effect.timeoutOption(next, live.pollTimeout))
    const changed = found === undefined ? undefined : yield* changedRights(stream)
    if (changed === undefined) return yield* polled(stream, found ?? { messages: [], position, isUpToDate: true })
    return changed.response ?? (yield* resetResponse({ ...stream, position }))
  })

const polled = ({ cursor, rights }: Begun, { isUpToDate, messages, position }: Page): ResponseEffect =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const headers = headersOf(offsetOf(position, rights), isUpToDate, cursorAt(now, cursor))
    return messages.length === 0
      ? HttpServerResponse.empty({ status: 204, headers })
      : responses.json(`[${messages.join()}]`, 200, headers)
  })

// -----------------------------------------------------------------------------
// events
// -----------------------------------------------------------------------------

const maxChunk = 65_536

const events = (stream: Begun): ResponseEffect =>
  Effect.gen(function*() {
    const { first, live, model, position, repository, rights, scope, seen } = stream
    const { lifted } = documentOperationsOf(repository)
    const { channel, subscriber } = yield* subscribed(stream)
    yield* Scope.provide(endWithClient(stream.fiber, subscriber), scope)
    if (stream.decide !== undefined || stream.before !== undefined) {
      yield* Effect.forkIn(watchRights(stream, channel, subscriber), scope)
    }
    let at = position
    let isJoined = false
    let hasBegun = false
    const beginning = (now: number): ReadonlyArray<Uint8Array> => {
      const offset = offsetOf(position, rights)
      const control = controlEvent(offset, cursorAt(now, undefined), channel.isHeldAfter(position))
      return first.length === 0 ? [control] : [...dataEvent(first, offset), control]
    }
    const next: Effect.Effect<ReadonlyArray<Uint8Array>, Cause.Done | ReadError | PositionGone> = Effect.suspend(() => {
      channel.touch(subscriber)
      if (subscriber.ended !== undefined) {
        const { last } = subscriber.ended
        subscriber.ended = { last: undefined }
        return last === undefined ? Cause.done() : Effect.succeed([last])
      }
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (!hasBegun) {
          hasBegun = true
          return Effect.succeed(beginning(now))
        }
        if (!isJoined && channel.isHeldAfter(at)) {
          isJoined = true
          channel.join(subscriber, at)
        }
        if (!isJoined) {
          return Effect.flatMap(
            live.store.changes.read([model.modelName], { after: at, limit: pageSize }),
            (page) => {
              at = page.position
              const messages = page.changes.flatMap((change) => messageOf(seen, lifted(change)) ?? [])
              const offset = offsetOf(at, rights)
              return messages.length === 0 && !page.isUpToDate ? next : Effect.succeed([
                ...messages.length === 0 ? [] : dataEvent(messages, offset),
                controlEvent(offset, cursorAt(now, undefined), page.isUpToDate)
              ])
            }
          )
        }
        const entries = channel.take(subscriber, maxChunk)
        // It has fallen behind what is held. Its client resumes at the place that it was told last.
        if (entries === undefined) return Cause.done()
        return entries.length === 0
          ? Effect.andThen(channel.wait(subscriber), next)
          : Effect.succeed(entries.map((entry) => channel.chunkOf(entry, now)))
      })
    })
    // What the stream tells is never empty, and any failure but an interruption is its end.
    const pull = Effect.catchCause(
      next,
      (cause) => Cause.hasInterrupts(cause) ? Effect.failCause(cause as Cause.Cause<never>) : Cause.done()
    ) as Effect.Effect<readonly [Uint8Array, ...Array<Uint8Array>], Cause.Done>
    return HttpServerResponse.stream(Stream.fromPull(Effect.succeed(pull)), eventStream)
  })

const eventStream = {
  contentType: "text/event-stream",
  headers: { "cache-control": noStore, "x-accel-buffering": "no" }
}

/**
 * Ends a stream when its client closes its side of the connection. Others who do so still read their answer, but no client reads one
 * without an end.
 */
const endWithClient = (
  { context }: Fiber.Fiber<unknown, unknown>,
  { interrupt }: Subscriber
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(
      Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    )
    if (socket.readableEnded) interrupt()
    socket.once("end", interrupt)
    return Effect.addFinalizer(() => Effect.sync(() => socket.off("end", interrupt)))
  })

const subscribed = (
  { fiber, key, live, model, repository, rights, scope, seen }: Begun
): Effect.Effect<{ readonly channel: Channel; readonly subscriber: Subscriber }, CallFailure> =>
  Effect.gen(function*() {
    const { lifted } = documentOperationsOf(repository)
    const shared = { key, collection: model.modelName, view: seen, rights, lifted }
    const channel = yield* unlessGone(Scope.provide(live.channel(shared), scope))
    const subscriber: Subscriber = {
      next: 0,
      after: "",
      seen: 0,
      resume: undefined,
      ended: undefined,
      interrupt: () => fiber.interruptUnsafe()
    }
    channel.subscribe(subscriber)
    yield* Scope.addFinalizer(scope, Effect.sync(() => channel.unsubscribe(subscriber)))
    return { channel, subscriber }
  })

// -----------------------------------------------------------------------------
// rights
// -----------------------------------------------------------------------------

interface Changed {
  /** What the request would be answered now; `undefined` if it would see other documents or fields. */
  readonly response: HttpServerResponse.HttpServerResponse | undefined
}

type Decided =
  | { readonly decision: AccessDecision }
  | { readonly response: HttpServerResponse.HttpServerResponse }

/** The decision on the request at a later time, by facts of then. The context of its fiber is another one then. */
const decideLater = (
  { context }: Fiber.Fiber<unknown, unknown>,
  request: HttpServerRequest.HttpServerRequest,
  { decisionInterval }: LiveStreams
): Effect.Effect<Decided> | undefined => {
  const again = Context.get(context, DecideAgain)
  if (again === undefined) return undefined
  const lifetimes = { ...Context.get(context, Lifetimes), revocationDelay: decisionInterval }
  // What rules have decided on a request is known by its object, so each decision has another one.
  return Effect.suspend(() =>
    Effect.provideContext(
      again,
      context.pipe(
        Context.add(HttpServerRequest.HttpServerRequest, request.modify({})),
        Context.add(Lifetimes, lifetimes)
      )
    )
  )
}

/** How the answer to the request would differ now; `undefined` if it would not. */
const changedRights = (stream: Begun): Effect.Effect<Changed | undefined> =>
  Effect.gen(function*() {
    const { before, decide } = stream
    const changed = decide === undefined ? undefined : yield* decidedOtherwise(stream, decide)
    if (changed !== undefined || before === undefined) return changed
    // The hook runs as it did at the beginning, and the next request is told why it refuses.
    return yield* Effect.match(before, { onFailure: () => ({ response: undefined }), onSuccess: () => undefined })
  })

const decidedOtherwise = (
  { rights }: Begun,
  decide: Effect.Effect<Decided>
): Effect.Effect<Changed | undefined> =>
  Effect.map(decide, (decided) =>
    "response" in decided
      ? decided
      : digestOf(rightsOf(decided.decision)) === rights
      ? undefined
      : { response: undefined })

/** A stream that says no more than that its caller sees something else now: with its place, the next request is told what. */
const resetResponse = (stream: Begun): ResponseEffect =>
  stream.mode === "sse"
    ? Effect.succeed(HttpServerResponse.uint8Array(resetEvent, eventStream))
    : polled(stream, { messages: [controlMessage("reset")], position: stream.position, isUpToDate: true })

const resetEvent = Buffer.concat([...dataEvent([controlMessage("reset")], undefined)])

/**
 * Ends a stream when its caller has lost the right to it, sees something else of the list, or when this can't be decided in time.
 */
const watchRights = (stream: Begun, channel: Channel, subscriber: Subscriber): Effect.Effect<void> =>
  Effect.gen(function*() {
    const interval = Duration.toMillis(stream.live.decisionInterval)
    let last = yield* Clock.currentTimeMillis
    while (subscriber.ended === undefined) {
      yield* Effect.sleep(Math.max(0, last + interval - (yield* Clock.currentTimeMillis)))
      last = yield* Clock.currentTimeMillis
      const decided = yield* Effect.timeoutOption(changedRights(stream), interval)
      if (Option.isNone(decided)) return channel.end(subscriber)
      if (decided.value === undefined) continue
      const { response } = decided.value
      channel.end(subscriber, response === undefined ? resetEvent : errorEvent(bodyOf(response)))
    }
  }).pipe(Effect.onError(() => Effect.sync(() => channel.end(subscriber))))

/** The JSON text of an answer. */
const bodyOf = ({ body, status }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : `{"_type":"ErrorMessage","code":${status}}`

/** The least time between two decisions on a stream. */
const minInterval = Duration.millis(50)

/**
 * The time between two decisions on a stream, which is also the age of the facts that they go by, and the time that they may take:
 * together they are the delay within which rights end.
 *
 * @internal
 */
export const decisionIntervalOf = (revocationDelay: Duration.Duration): Duration.Duration =>
  Duration.max(Duration.times(revocationDelay, 1 / 3), minInterval)
