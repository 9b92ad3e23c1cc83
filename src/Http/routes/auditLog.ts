/**
 * The audit log: who did what to which document, allowed or denied, from where and by which grants. An entry has the
 * identifiers of documents, and no values of documents, filters, headers or credentials.
 */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import { randomUUID } from "node:crypto"
import { type GuardedEndpoint, withAllData } from "../../Access/AccessControl.ts"
import { currentClientAddress } from "../../internal/clientAddress.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import {
  AccessDecision,
  afterCommit,
  type AuditTrail,
  documentOperationsOf,
  identifierOf,
  maxIds,
  type Privilege,
  type Touched
} from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import type { AuditOptions } from "../KernelConfig.ts"
import { InnerRequest } from "../request/innerRequest.ts"
import { requestIdOf } from "../request/requestId.ts"

/** The audit log of a service. */
export interface AuditLog {
  /** Responds, and writes the entries of the request. It wraps authentication and error responses, so it sees their status. */
  readonly audited: <E, R>(
    respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    endpoint: AuditedEndpoint
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  /** Reads documents of another registration within a request, as one for them would, with the entry of its reads. */
  readonly reading: <A, E, R>(
    read: (decision: AccessDecision) => Effect.Effect<A, E, R>,
    decision: AccessDecision,
    endpoint: AuditedEndpoint
  ) => Effect.Effect<A, E, R>
}

interface AuditedEndpoint
  extends Pick<GuardedEndpoint, "documents" | "isOperation" | "name" | "registration" | "resource">
{
  readonly auditLog: "off" | "writes" | "reads and writes" | undefined
}

/** Collects the entries of the request that a fiber handles; `undefined` without an audit log. */
export const CurrentTrail = Context.Reference<RequestTrail | undefined>("appkernel/Http/routes/auditLog", {
  defaultValue: () => undefined
})

/** Prepares the collection of entries, and fails if its store has no transactions. */
export const makeAuditLog = Effect.fnUntraced(function*(
  { collection, reads, to }: AuditOptions,
  store: DocumentStore["Service"]
) {
  const isStored = to === "collection"
  if (isStored) {
    yield* store.createIndexes(collection, [
      { name: "at_1", key: { at: 1 } },
      { name: "ids_1_at_1", key: { ids: 1, at: 1 } },
      { name: "subject_1_at_1", key: { subject: 1, at: 1 } }
    ])
  }
  const transaction = store.transaction(store.count(collection, { _id: "" }))
  const hasTransactions = isStored
    ? yield* Effect.as(transaction, true)
    : yield* Effect.match(transaction, { onSuccess: () => true, onFailure: () => false })
  const add = (entry: Entry): Effect.Effect<void, ReadError> =>
    isStored
      ? Effect.flatMap(Clock.currentTimeMillis, (now) =>
        // A random identifier is never taken.
        Effect.catchTag(
          store.insertOne(collection, {
            _id: randomUUID(),
            at: DateTime.toDateUtc(DateTime.makeUnsafe(now)),
            ...entry
          }),
          "DuplicateKey",
          (error) => Effect.die(error)
        ))
      : afterCommit(line(entry))
  const byDefault = reads ? "reads and writes" as const : "writes"
  const trailOf = (
    fiber: Fiber.Fiber<unknown, unknown>,
    { isOperation, name, registration }: AuditedEndpoint,
    { hasReads, id }: { readonly hasReads: boolean; readonly id: string | undefined }
  ) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return new RequestTrail(
      { isStored, hasTransactions, hasReads },
      Effect.map(currentClientAddress, (address) => {
        const subject = currentUserIdOf(fiber)
        return {
          registration,
          [isOperation ? "call" : "method"]: name,
          ...id === undefined ? {} : { id },
          ...subject === undefined ? {} : { subject },
          ...address === undefined ? {} : { address },
          ...request.source instanceof InnerRequest ? { tool: request.source.tool } : {},
          request_id: requestIdOf(request)
        }
      }),
      add
    )
  }
  const reading: AuditLog["reading"] = (read, decision, endpoint) =>
    (endpoint.auditLog ?? byDefault) !== "reads and writes" ? read(decision) : Effect.withFiber((fiber) => {
      const trail = trailOf(fiber, endpoint, { hasReads: true, id: undefined })
      trail.decision = decision
      return Effect.ensuring(read({ ...decision, trail }), trail.finish(undefined, false, false))
    })
  const audited: AuditLog["audited"] = (respond, endpoint) => {
    const { auditLog = byDefault, documents, isOperation, name, resource } = endpoint
    const hasReads = auditLog === "reads and writes"
    return Effect.withFiber((fiber) => {
      // What refuses a request within another one is named there.
      fiber.getRef(CurrentTrail)?.admitted()
      if (auditLog === "off") return respond
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const id = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.params["id"]
      const trail = trailOf(fiber, endpoint, { hasReads: hasReads && (isOperation || name === "GET"), id })
      // The end of the request restores the context of its fiber.
      fiber.setContext(Context.add(fiber.context, CurrentTrail, trail))
      const isRead = request.method === "GET" || request.method === "HEAD" || request.method === "QUERY"
      return Effect.onExit(respond, (exit) => {
        const status = Exit.isSuccess(exit) ? exit.value.status : undefined
        const finish = (isDenied: boolean) => trail.finish(status, isDenied, isOperation && (hasReads || !isRead))
        const { decision } = trail
        return status !== 404 || id === undefined || resource === undefined || decision === undefined
          ? finish(!trail.isAdmitted && (status === 401 || status === 403))
          : Effect.flatMap(
            isHidden(
              { ...resource, documents },
              id,
              isOperation ? "read" : privileges[name] ?? "update",
              decision
            ),
            finish
          )
      })
    })
  }
  const log: AuditLog = { audited, reading }
  return log
})

// internal

type Entry = { readonly [name: string]: unknown }

/** Logs an entry. The configured log level does not apply to it. */
const line = (entry: Entry): Effect.Effect<void> =>
  Effect.provideService(
    Effect.annotateLogs(Effect.logInfo("audit"), entry),
    References.MinimumLogLevel,
    "Info"
  )

/** What a method needs for the document that it addresses. */
const privileges: { readonly [method: string]: Privilege } = { GET: "read", DELETE: "delete" }

/** Whether a document exists that the row filters of the caller hide. */
const isHidden = (
  { documents = "exclude", repository }:
    & { readonly repository: Repository<Model.Any> }
    & Pick<GuardedEndpoint, "documents">,
  text: string,
  privilege: Privilege,
  decision: AccessDecision
): Effect.Effect<boolean> => {
  const id = identifierOf(repository.model).parse(text)
  if (id === undefined) return Effect.succeed(false)
  const found = Effect.map(
    documentOperationsOf(repository).including(documents).findById(id, { privilege }),
    (document) => document !== undefined
  )
  return Effect.flatMap(
    withAllData(found),
    (exists) =>
      exists
        ? Effect.map(Effect.provideService(found, AccessDecision, { ...decision, trail: undefined }), (seen) => !seen)
        : Effect.succeed(false)
  ).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logError(`The audit log can't tell whether a document is hidden: ${error.message}`), false)
    )
  )
}

class RequestTrail implements AuditTrail {
  readonly isStored: boolean
  readonly hasTransactions: boolean
  readonly hasReads: boolean
  /** The decision on the request; `undefined` before it. */
  decision: AccessDecision | undefined
  isAdmitted = false
  #about: Effect.Effect<Entry>
  #isFinished = false
  readonly #add: (entry: Entry) => Effect.Effect<void, ReadError>
  readonly #reads = new Map<string, { readonly ids: Set<string>; count: number | undefined }>()
  readonly #refusals: Array<Entry> = []
  readonly #writes: Array<Touched> = []

  constructor(
    { hasReads, hasTransactions, isStored }: Pick<AuditTrail, "hasReads" | "hasTransactions" | "isStored">,
    /** What all entries have, by the fiber that handles the request. */
    about: Effect.Effect<Entry>,
    add: (entry: Entry) => Effect.Effect<void, ReadError>
  ) {
    this.isStored = isStored
    this.hasTransactions = hasTransactions
    this.hasReads = hasReads
    this.#about = about
    this.#add = (entry) => Effect.flatMap(this.#about, (own) => add({ ...entry, ...own }))
  }

  wrote({ count, ids, model, operation }: Touched): Effect.Effect<void, ReadError> {
    return this.#add(this.#allowed({ model, operation, ids: ids.slice(0, maxIds), count }))
  }

  wroteBefore(touched: Touched): void {
    this.#writes.push(touched)
  }

  read({ count, ids, model }: Touched): void {
    const before = this.#reads.get(model) ?? { ids: new Set<string>(), count: 0 }
    this.#reads.set(model, before)
    before.count = before.count === undefined || count === undefined ? undefined : before.count + count
    for (const id of ids) if (before.ids.size < maxIds) before.ids.add(id)
  }

  refused(model: string, operation: Touched["operation"]): void {
    this.#refusals.push({ outcome: "denied", model, operation })
  }

  /** Notes that the request was let in here: what refuses it later is something else. */
  admitted(): void {
    this.isAdmitted = true
  }

  readonly flush: Effect.Effect<void> = Effect.suspend(() =>
    this.#isFinished ? this.#addAll(this.#taken()) : Effect.void
  )

  /** Writes the entries that belong to no transaction. */
  finish(status: number | undefined, isDenied: boolean, isNoted: boolean): Effect.Effect<void> {
    const entries: ReadonlyArray<Entry> = [
      ...isDenied && this.#refusals.length === 0 ? [{ outcome: "denied", status }] : [],
      ...isNoted && status !== undefined && status < 400 ? [this.#allowed({ operation: "call" })] : []
    ]
    return Effect.flatMap(this.#about, (about) => {
      // The caller is not that of the fiber any more when the answer is sent.
      this.#about = Effect.succeed(about)
      this.#isFinished = true
      return this.#addAll([...this.#taken(), ...entries])
    })
  }

  /** The entries that belong to no transaction, without the writes. Each is taken once. */
  #taken(): ReadonlyArray<Entry> {
    const reads = Array.from(this.#reads, ([model, { count, ids }]) =>
      this.#allowed({
        model,
        operation: "read",
        ids: [...ids],
        // The identifiers count a document once that was read twice.
        ...count === undefined ? {} : { count: ids.size < maxIds ? ids.size : count }
      }))
    this.#reads.clear()
    return [...this.#refusals.splice(0), ...reads]
  }

  #addAll(entries: ReadonlyArray<Entry>): Effect.Effect<void> {
    return Effect.forEach(this.#writes.splice(0), (touched) => this.wrote(touched), { discard: true }).pipe(
      Effect.andThen(Effect.forEach(entries, (entry) => this.#add(entry), { discard: true })),
      Effect.catch((error) =>
        Effect.annotateLogs(Effect.logError(`Entries of the audit log can't be written: ${error.message}`), { entries })
      )
    )
  }

  #allowed(entry: Entry): Entry {
    return { outcome: "allowed", ...entry, grants: this.decision?.grants() ?? [] }
  }
}
