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
}

/** Says that the rest of a body may take longer than `server.request_timeout`, as long as it goes on. */
export const goesOn = (request: Body): void => {
  const { socket } = request
  if (!request.complete) uploads.set(socket, { request, bytes: socket.bytesRead })
}

/**
 * Whether a body of a connection may take another time of so many milliseconds: it has brought a byte for each of them, or
 * has to wait for whoever reads it.
 */
export const mayGoOn = (socket: Socket, millis: number): boolean => {
  const upload = uploads.get(socket)
  if (upload === undefined || isEnded(upload)) return false
  const { bytes, request } = upload
  upload.bytes = socket.bytesRead
  return socket.bytesRead - bytes >= millis || request.readableLength >= request.readableHighWaterMark
}

/** Whether a connection brings such a body. */
export const isUploading = (socket: Socket): boolean => {
  const upload = uploads.get(socket)
  return upload !== undefined && !isEnded(upload)
}

// internal

/** One for each connection, which brings one body at a time. */
const uploads = new WeakMap<Socket, Uploading>()

const isEnded = ({ request }: Uploading): boolean => request.complete || request.destroyed
