/**
 * The messages of a stream of changes, and how they are sent: those of the State Protocol of Durable Streams, in a JSON array or in
 * the events of a body that does not end.
 */
import { quote } from "../../internal/json.ts"
import type { Document, Position, StoredChange } from "../../Repository/DocumentStore.ts"

/** The documents as somebody sees them. */
export interface MessageView {
  /** The type of the messages. */
  readonly type: string
  readonly sees: (document: Document) => boolean
  /** `undefined` for a document that does not match the model. */
  readonly textOf: (document: Document) => string | undefined
  readonly keyOf: (id: unknown) => string
}

/** The documents of a collection, as somebody sees them. */
export interface ToldList {
  readonly collection: string
  readonly seen: MessageView
  readonly lifted: (change: StoredChange) => StoredChange
}

/** What is told of a change to somebody who follows lists. */
export const messagesOf = (lists: ReadonlyArray<ToldList>, change: StoredChange): ReadonlyArray<string> =>
  lists.flatMap(({ collection, lifted, seen }) =>
    collection === change.collection ? messageOf(seen, lifted(change)) ?? [] : []
  )

/**
 * What a view is told of a change; `undefined` if it shows no difference. A document that leaves a view and one that is deleted
 * look the same.
 */
const messageOf = (view: MessageView, change: StoredChange): string | undefined => {
  const before = change.operation === "insert" || !view.sees(change.before) ? undefined : view.textOf(change.before)
  const after = change.operation === "delete" || !view.sees(change.after) ? undefined : view.textOf(change.after)
  if (before === after) return undefined
  const operation = after === undefined ? "delete" : before === undefined ? "insert" : "update"
  const value = after === undefined ? "" : `"value":${after},`
  return `{"type":${quote(view.type)},"key":${
    quote(view.keyOf(change.id))
  },${value}"headers":{"operation":"${operation}","txid":${
    quote(change.transaction)
  },"timestamp":"${change.time.toISOString()}"}}`
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
export const beginning = "-1"

/**
 * Messages as an event, whose `id` an `EventSource` sends when it connects again. It is sent in several chunks if it is long.
 */
export function* dataEvent(messages: ReadonlyArray<string>, offset: string | undefined): Generator<Uint8Array> {
  let text = `event: data\n${offset === undefined ? "" : `id: ${offset}\n`}data: [`
  for (const [i, message] of messages.entries()) {
    text += i === 0 ? message : `,\ndata: ${message}`
    if (text.length > chunkLength) {
      yield encoder.encode(text)
      text = ""
    }
  }
  yield encoder.encode(`${text}]\n\n`)
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

const encoder = new TextEncoder()

const chunkLength = 65_536

/** The protocol counts from 9 October 2024. */
const cursorEpoch = 1_728_432_000_000
