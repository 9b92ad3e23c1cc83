import { EmbeddedStore, MongoStore } from "appkernel"
import { Effect, Layer } from "effect"

/** MongoDB where `mongo.host` is configured, else a folder. */
export const store = Layer.unwrap(
  Effect.map(MongoStore.configured, (configured) => configured ? MongoStore.layer : EmbeddedStore.layer)
)
