import { EmbeddedStore, MongoStore } from "appkernel"
import { Config, Effect, Layer, Option } from "effect"

/** MongoDB where `APPKERNEL_MONGO_HOST` names one, else a folder on this machine. */
export const store = Layer.unwrap(Effect.gen(function*() {
  const host = yield* Config.option(Config.String("APPKERNEL_MONGO_HOST"))
  return Option.isSome(host) ? MongoStore.layer : EmbeddedStore.layer
}))
