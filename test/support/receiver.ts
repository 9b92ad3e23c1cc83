/** A receiver of webhooks on a port of this machine, which notes what it is sent. */
import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Listens until the scope closes. `answer` answers; by default with 204. */
export const receiver = (answer: (response: ServerResponse, received: Received) => void = (response) => {
  response.writeHead(204).end()
}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly received: Array<Received>; readonly port: number; readonly close: () => void }>(
        (resume) => {
          const received: Array<Received> = []
          const server = createServer((request, response) => {
            let body = ""
            request.setEncoding("utf8").on("data", (part: string) => {
              body += part
            }).on("end", () => {
              const one = { headers: request.headers, body }
              received.push(one)
              answer(response, one)
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            resume(Effect.succeed({
              received,
              port,
              close: () => {
                server.close()
                server.closeAllConnections()
              }
            }))
          })
        }
      ),
      ({ close }) => Effect.sync(close)
    ),
    ({ port, received }) => ({ received, port, url: `http://127.0.0.1:${port}/hook` })
  )
