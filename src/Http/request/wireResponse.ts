/**
 * Node's response, which sends a text with a character for each byte as these bytes. It cuts the connection where its body is not as long
 * as it says: the client would take the rest, or the next response, for something else.
 */
import type { OutgoingHttpHeader, OutgoingHttpHeaders } from "node:http"
import { type IncomingMessage, ServerResponse } from "./nodeHttp.ts"

export type ResponseHeaders = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/** Copying more bytes costs as much as sending them apart from the headers. */
const maxJoined = 64 * 1024

// What `toString` calls after it has looked at its arguments.
const { latin1Slice } = Buffer.prototype

export class WireResponse<R extends IncomingMessage> extends ServerResponse<R> {
  #length: unknown
  #written = 0
  #body: { readonly setText: () => void } | undefined

  /** Sends the text of a body, which is set when nobody else looks at the body any more. */
  sendTextOf(body: { readonly setText: () => void }): void {
    this.#body = body
  }

  override writeHead(code: number, reason?: string | ResponseHeaders, headers?: ResponseHeaders): this {
    this.#body?.setText()
    this.#length = Object(typeof reason === "string" ? headers : reason ?? headers)["content-length"]
    return typeof reason === "string"
      ? super.writeHead(code, reason, headers)
      : super.writeHead(code, reason ?? headers)
  }

  /** Is called before the connection of a body of another length is cut. */
  protected mismatched(_length: number, _written: number): void {}

  override write(...args: ReadonlyArray<unknown>): boolean {
    const [chunk] = args
    this.#written += sizeOf(chunk)
    return this.#cutsIf(this.#written > Number(this.#length))
      ? false
      : Reflect.apply(super.write.bind(this), this, args)
  }

  /** A text as long as the response is sent without encoding, and small bytes together with the headers, as Node sends texts. */
  override end(...args: ReadonlyArray<unknown>): this {
    const [chunk, done] = args
    if (typeof chunk === "string" && this.#length === String(chunk.length)) {
      if (args.length === 1) return super.end(chunk, "latin1")
      if (typeof done === "function") return super.end(chunk, "latin1", () => done())
    }
    this.#written += sizeOf(chunk)
    if (this.#length !== undefined && this.#cutsIf(this.#written !== Number(this.#length))) return this
    if (args.length === 1 && chunk instanceof Uint8Array && chunk.length < maxJoined) {
      return super.end(latin1Slice.call(chunk), "latin1")
    }
    return Reflect.apply(super.end.bind(this), this, args)
  }

  #cutsIf(isMismatch: boolean): boolean {
    // Node has this property for the responses to HEAD, and for those of 204 and 304.
    if (!isMismatch || Reflect.get(this, "_hasBody") === false) return false
    this.mismatched(Number(this.#length), this.#written)
    this.destroy()
    return true
  }
}

const sizeOf = (chunk: unknown): number =>
  typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk instanceof Uint8Array ? chunk.length : 0
