/** Bodies that may be large: they are limited by how fast they arrive, and not by a time for all of it. */
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

/** What Node's requests have in common. */
type Body = Pick<IncomingMessage, "complete" | "destroyed" | "readableHighWaterMark" | "readableLength" | "socket">

/** A body on its way. */
interface Uploading {
  readonly request: Body
  /** The bytes that the connection had brought when it was last looked at. */
  bytes: number
  /** When that was, in milliseconds since the process started. */
  at: number
}

/** Says that the rest of a body may take longer than `server.request_timeout`, as long as it goes on. */
export const goesOn = (request: Body): void => {
  const { socket } = request
  if (!request.complete && uploads.get(socket)?.request !== request) {
    uploads.set(socket, { request, bytes: socket.bytesRead, at: performance.now() })
  }
}

/**
 * Limits the body that a connection brings, once Node has said that it takes too long, which it says once: `cut` is called as soon as
 * it neither brings a byte for each of so many milliseconds nor has to wait for whoever reads it. False without such a body.
 */
export const limitUpload = (socket: Socket, millis: number, cut: () => void): boolean => {
  const upload = uploads.get(socket)
  if (upload === undefined || isEnded(upload)) return false
  const { request } = upload
  const look = (): void => {
    // The connection may bring another body by now, of which Node speaks again.
    if (isEnded(upload) || uploads.get(socket) !== upload) return
    const remaining = upload.at + millis - performance.now()
    // What has begun later is judged by a whole period as well.
    if (remaining <= 0) {
      const isWaiting = request.readableLength >= request.readableHighWaterMark
      if (!isWaiting && socket.bytesRead - upload.bytes < millis) return cut()
      upload.bytes = socket.bytesRead
      upload.at = performance.now()
    }
    // A connection is no fiber.
    // @effect-diagnostics-next-line globalTimers:off
    setTimeout(look, remaining > 0 ? remaining : millis).unref()
  }
  look()
  return true
}

// internal

/** One for each connection, which brings one body at a time. */
const uploads = new WeakMap<Socket, Uploading>()

const isEnded = ({ request }: Uploading): boolean => request.complete || request.destroyed
