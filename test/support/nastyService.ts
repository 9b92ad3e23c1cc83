/** A service with what generators of clients stumble over: every kind of field, two versions, odd names, and files. */
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { Model, Raw, Resource, Service } from "../../src/index.ts"
import { engine as everyField } from "./everyField.ts"
import { kinds, mayBeMissing } from "./everyKind.ts"
import { Files } from "./uploads.ts"

/** Of a struct with further keys, OpenAPI Generator makes no class in Python for merge patches, in which each key may be `null`. */
const { openStruct: _openStruct, ...generated } = kinds

class Kinds extends Model.Class<{ readonly id: string }>()("Kinds", {
  id: Model.id(),
  ...Object.fromEntries(
    Object.entries(generated).map((
      [name, { schema }]
    ) => [name, mayBeMissing(schema) ? schema : Model.optional(schema)])
  )
}) {}

/** Words of languages, names that no language has, names that are one in the style of a language, and those of parameters. */
class Odd extends Model.Class<Odd>()("Odd", {
  id: Model.id(),
  class: Schema.String,
  from: Schema.Int,
  self: Schema.String.pipe(Model.optional),
  type: Schema.String.pipe(Model.optional),
  default: Schema.Literals(["class", "2nd", "größe", "-"]).pipe(Model.optional),
  "first-name": Schema.String.pipe(Model.optional),
  first_name: Schema.String.pipe(Model.optional),
  firstName: Schema.String.pipe(Model.optional),
  "2nd": Schema.Boolean.pipe(Model.optional),
  größe: Schema.Finite.pipe(Model.optional),
  client: Schema.String.pipe(Model.optional),
  options: Schema.String.pipe(Model.optional)
}) {}

/** How version 2 shows them, by the same name. */
class OddOfVersion2 extends Model.Class<OddOfVersion2>()("Odd", {
  id: Model.id(),
  class: Schema.Array(Schema.String)
}) {}

const Odds = Resource.make(Odd, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("return", { path: "./return/{class}", success: Schema.String }, ({ id }) => Effect.succeed(id))

const OddsOfVersion2 = Service.make("odds").operation(
  "create",
  { method: "POST", path: "./", payload: OddOfVersion2, success: OddOfVersion2 },
  ({ payload }) => Effect.succeed(payload)
)

const Texts = Service.make("default")
  .operation("import", {
    method: "POST",
    path: "./import",
    payload: Raw.request({ contentType: "text/csv" }),
    success: Raw.response({ contentType: "text/csv" })
  }, ({ payload }) => Effect.succeed(HttpServerResponse.stream(payload, { contentType: "text/csv" })))

export const engine = everyField
  .register(Kinds, { urlBase: "/api/v1", methods: ["GET", "POST", "PATCH"] })
  .register(Odds, { urlBase: "/api/v1" })
  .register(OddsOfVersion2, { urlBase: "/api/v2", name: "odds_v2" })
  .register(Texts, { urlBase: "/api/v1", segment: "größen/本" })
  .register(Files, { urlBase: "/api/v1" })
