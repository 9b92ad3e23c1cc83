/**
 * The messages of a stream of changes, and how they are sent: those of the State Protocol of Durable Streams, in a JSON array or in
 * the events of a body that does not end.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import { quote } from "../../internal/json.ts"
import type { Document, Position, StoredChange } from "../../Repository/DocumentStore.ts"
import { textOfId, type Touched } from "../../Repository/internal.ts"

/** The documents as somebody sees them. */
export interface MessageView {
  /** The type of the messages. */
  readonly type: string
  /** A key that views share if they write documents alike. */
  readonly key: string
  readonly sees: (document: Document) => boolean
  /** `undefined` for a document that does not match the model. */
  readonly textOf: (document: Document) => string | undefined
  readonly keyOf: (id: unknown) => string
}

/** The documents of a collection, as somebody sees them. */
export interface ToldList {
  readonly collection: string
  readonly seen: MessageView
  readonly upgraded: (change: StoredChange) => StoredChange
}

/** A change for all callers who receive it: its documents are written once for all lists with the same view of them. */
export class ToldChange {
  readonly stored: StoredChange
  #touched: Touched | undefined
  #upgraded: { readonly by: ToldList["upgraded"]; readonly change: StoredChange } | undefined
  readonly #written = new Map<string, Written>()

  constructor(stored: StoredChange) {
    this.stored = stored
  }

  /** The messages about the change for a caller who follows the lists, and the document that the messages show. */
  toldTo(lists: ReadonlyArray<ToldList>): { readonly messages: ReadonlyArray<string>; readonly read?: Touched } {
    const told = lists.flatMap(({ collection, upgraded, seen }) =>
      collection === this.stored.collection ? this.#messageFor(seen, upgraded) ?? [] : []
    )
    const messages = told.map(({ text }) => text)
    return told.some(({ hasValue }) => hasValue) ? { messages, read: this.#read } : { messages }
  }

  get #read(): Touched {
    const { collection, id } = this.stored
    return this.#touched ??= { model: collection, operation: "read", ids: [textOfId(id)], count: 1 }
  }

  /**
   * The message of the change for a view; `undefined` if the view shows no difference. A document that leaves a view and
   * one that is deleted look the same.
   */
  #messageFor(view: MessageView, upgraded: ToldList["upgraded"]): ToldMessage | undefined {
    const change = this.#changeBy(upgraded)
    const { after, before, tell } = getOrMake(this.#written, view.key, () => writtenFor(view, change))
    const isBefore = change.operation !== "insert" && view.sees(change.before)
    const isAfter = change.operation !== "delete" && view.sees(change.after)
    return tell(isBefore ? before() : undefined, isAfter ? after() : undefined)
  }

  #changeBy(upgraded: ToldList["upgraded"]): StoredChange {
    if (this.#upgraded?.by !== upgraded) this.#upgraded = { by: upgraded, change: upgraded(this.stored) }
    return this.#upgraded.change
  }
}

/** The texts of a change, for all lists whose views show the same fields. */
interface Written {
  readonly before: () => string | undefined
  readonly after: () => string | undefined
  readonly tell: (before: string | undefined, after: string | undefined) => ToldMessage | undefined
}

interface ToldMessage {
  readonly text: string
  readonly hasValue: boolean
}

const writtenFor = ({ keyOf, textOf, type }: MessageView, change: StoredChange): Written => {
  const messages = new Map<string, ToldMessage>()
  const message = (operation: string, text: string | undefined): string =>
    `{"type":${quote(type)},"key":${quote(keyOf(change.id))},${
      text === undefined ? "" : `"value":${text},`
    }"headers":{"operation":"${operation}","txid":${
      quote(change.transaction)
    },"timestamp":"${change.time.toISOString()}"}}`
  return {
    before: once(() => change.operation === "insert" ? undefined : textOf(change.before)),
    after: once(() => change.operation === "delete" ? undefined : textOf(change.after)),
    tell: (before, after) => {
      if (before === after) return undefined
      const operation = after === undefined ? "delete" : before === undefined ? "insert" : "update"
      return getOrMake(messages, operation, () => ({ text: message(operation, after), hasValue: after !== undefined }))
    }
  }
}

/** A document that is there when a stream begins. */
export const stateMessage = (view: MessageView, document: Document, text: string): string =>
  `{"type":${quote(view.type)},"key":${
    quote(view.keyOf(document["_id"]))
  },"value":${text},"headers":{"operation":"insert"}}`

export const controlMessage = (control: "reset" | "snapshot-start" | "snapshot-end"): string =>
  `{"headers":{"control":"${control}"}}`

/**
 * A place in a stream of changes, and a digest of the rights with which it was read: with other rights, what was read before may
 * be wrong.
 */
export const offsetOf = (position: Position, rights: string): string => `${position}.${rights}`

export const readOffset = (
  offset: string
): { readonly position: Position; readonly rights: string } | undefined => {
  const dot = offset.lastIndexOf(".")
  const [position, rights] = [offset.slice(0, Math.max(dot, 0)), offset.slice(dot + 1)]
  return /^[\w.-]{1,4096}$/u.test(position) && /^[0-9a-f]{0,64}$/u.test(rights) ? { position, rights } : undefined
}

/** The place before all documents. */
export const beforeAllDocuments = "-1"

/**
 * Messages as an event, whose `id` an `EventSource` sends when it connects again. It is sent in several chunks if it is long.
 */
export const dataEvent = (messages: Iterable<string>, offset: string | undefined): Generator<Uint8Array> =>
  joined(`event: data\n${offset === undefined ? "" : `id: ${offset}\n`}data: [`, messages, ",\ndata: ", "]\n\n")

/** Messages as a JSON array. */
export const jsonArray = (messages: Iterable<string>): Generator<Uint8Array> => joined("[", messages, ",", "]")

/** Gives each message and forgets it, so that sent messages do not stay in memory. */
export function* drained(messages: Array<string>): Generator<string> {
  messages.reverse()
  for (let message = messages.pop(); message !== undefined; message = messages.pop()) yield message
}

/** The event after messages: where the stream is. */
export const controlEvent = (offset: string, cursor: string, isUpToDate: boolean): Uint8Array =>
  encoder.encode(
    `id: ${offset}\nevent: control\ndata:{"streamNextOffset":${quote(offset)},"streamCursor":"${cursor}"${
      isUpToDate ? ",\"upToDate\":true" : ""
    }}\n\n`
  )

/** Why a stream ends: the body of the answer that its request would get now. */
export const errorEvent = (body: string): Uint8Array => encoder.encode(`event: error\ndata: ${body}\n\n`)

/**
 * A text that changes every 20 seconds, and with each request that has it already, so that nothing between keeps an answer.
 */
export const cursorAt = (millis: number, given: string | undefined): string => {
  const current = Math.floor((millis - cursorEpoch) / 20_000)
  const before = given !== undefined && /^\d{1,15}$/u.test(given) ? Number(given) : -1
  return String(before >= current ? before + 1 : current)
}

// internal

const once = <A>(make: () => A): () => A => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

function* joined(head: string, messages: Iterable<string>, between: string, tail: string): Generator<Uint8Array> {
  let text = head
  let isFirst = true
  for (const message of messages) {
    text += isFirst ? message : between + message
    isFirst = false
    if (text.length > chunkLength) {
      yield encoder.encode(text)
      text = ""
    }
  }
  yield encoder.encode(text + tail)
}

const encoder = new TextEncoder()

const chunkLength = 65_536

/** The protocol counts from 9 October 2024. */
const cursorEpoch = 1_728_432_000_000
