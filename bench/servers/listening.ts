/**
 * What our servers share beside their model: the port, and that they tell it.
 */
import { KernelServer } from "appkernel"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"

export const server = KernelServer.layerWith({ address: "127.0.0.1", port: Number(process.argv[2]) })

/** Prints the port once the server listens. */
export const ready = Layer.effectDiscard(KernelServer.whenListening(Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  yield* Console.log(`listening ${"port" in address ? address.port : ""}`)
})))
