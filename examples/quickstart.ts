// A REST service with stored notes: `node --conditions=source examples/quickstart.ts`, then
// curl -H 'content-type: application/json' 127.0.0.1:5000/api/v1/notes -d '{"text": "buy milk"}'
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Generator, KernelEngine, Model, Validator } from "appkernel"
import { Layer, Schema } from "effect"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  text: Schema.String.pipe(Validator.notEmpty, Validator.max(500)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  written: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

const engine = KernelEngine.make("notes")
  .register(Note, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1" })

engine.layer.pipe(
  Layer.provide(EmbeddedStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
