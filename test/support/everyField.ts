/** A service with every kind of field, action, operation and hook. */
import { DateTime, Effect, Option, Schema } from "effect"
import {
  Converter,
  KernelEngine,
  Marshaller,
  Model,
  Repository,
  Resource,
  Service,
  ServiceError,
  Validator
} from "../../src/index.ts"

export class Part extends Model.Class<Part>()("Part", {
  label: Schema.String.pipe(Validator.notEmpty, Validator.max(20)),
  since: Model.Date.pipe(Model.optional),
  pin: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

const Colour = { Red: "red", Green: "green" } as const

export class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id({ prefix: "T" }),
  text: Schema.String.pipe(Validator.notEmpty, Validator.max(40)).annotate({ title: "A text" }),
  code: Schema.String.pipe(Validator.regexp(/^[A-Z]{2}-\d{3}$/u)),
  email: Schema.String.pipe(Validator.email, Model.optional),
  count: Schema.Int.pipe(Validator.min(-5), Validator.max(50)),
  ratio: Schema.Finite.pipe(Validator.min(0), Model.optional),
  flag: Schema.Boolean,
  perhaps: Schema.NullOr(Schema.Boolean),
  kind: Schema.Literals(["a", "b"]).annotate({ identifier: "Kind" }),
  level: Schema.Literals([1, 2, 3]).pipe(Model.withDefault(() => 1 as const)),
  colour: Schema.Enum(Colour).pipe(Model.optional),
  either: Schema.Union([Schema.Int, Schema.String]).pipe(Model.optional),
  day: Model.Date,
  moment: Model.DateTime.pipe(Validator.past, Model.optional),
  stamp: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp), Model.optional),
  secret: Schema.String.pipe(
    Validator.min(4),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.optional,
    Model.omitted
  ),
  tags: Schema.Array(Schema.String.pipe(Validator.notEmpty)).pipe(Validator.unique, Model.withDefault(() => [])),
  scores: Schema.Array(Schema.Finite).pipe(Validator.max(3), Model.optional),
  days: Schema.Array(Model.Date).pipe(Model.optional),
  part: Part,
  spare: Part.pipe(Model.optional),
  parts: Schema.Array(Part).pipe(Model.withDefault(() => [])),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  pair: Schema.Tuple([Schema.String, Schema.Int]).pipe(Model.optional),
  extra: Schema.Json.pipe(Model.optional),
  ...Model.versioned,
  ...Model.audited
}) {}

/** Without versions and links, with a unique code. */
export class Slot extends Model.Class<Slot>()("Slot", {
  id: Model.id(),
  number: Schema.Literals([1, 2, 3, 4, 5, 6]).pipe(Validator.unique),
  page: Schema.Int.pipe(Model.optional),
  fields: Schema.String.pipe(Model.optional),
  ...Model.softDeleted,
  ...Model.historied
}) {}

interface StoredBranch {
  readonly id: string
  readonly name: string
  readonly branches: ReadonlyArray<StoredBranch>
}
/** A recursive model. */
export class Branch extends Model.Class<Branch>()("Branch", {
  id: Model.id(),
  name: Schema.String,
  branches: Schema.Array(Schema.suspend((): Schema.Codec<Branch, StoredBranch> => Branch))
}) {}

/** Never registered. */
export class View extends Model.Class<View>()("View", {
  id: Model.id(),
  name: Schema.String,
  at: Model.DateTime,
  pin: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class Refused extends ServiceError<Refused>()("Refused", {
  status: 422,
  fields: {
    count: Schema.Int,
    at: Model.DateTime,
    since: Schema.DateTimeUtcFromMillis,
    why: Schema.optionalKey(Schema.String)
  }
}) {}
class Locked extends ServiceError<Locked>()("Locked", { status: 423 }) {}
class Missing extends ServiceError<Missing>()("Missing", { status: 404 }) {}

const at = DateTime.toUtc(DateTime.makeUnsafe("2026-01-31T09:30:00.123Z"))

const refused = (count: number) => new Refused({ count, at, since: at })

const Things = Resource.make(Thing, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .beforeGet(
    ({ id }) => Option.contains(id, "locked") ? Effect.fail(new Locked()) : Effect.void,
    { error: [Locked] }
  )
  .beforePost((thing) => thing.count === 13 ? Effect.fail(refused(thing.count)) : Effect.void, { error: [Refused] })
  .beforePut((thing) => thing.count % 7 === 0 ? Effect.fail(refused(thing.count)) : Effect.succeed(thing), {
    error: [Refused]
  })
  .beforePatch((thing) => thing.flag ? Effect.void : Effect.fail(refused(thing.count)), { error: [Refused, Locked] })
  .afterDelete((thing) => thing.count === 1 ? Effect.fail(new Locked()) : Effect.void, { error: [Locked] })
  .action("summary", { success: Schema.String, summary: "In one line" }, ({ text }) => Effect.succeed(text))
  .action("itself", { method: "PUT", success: Thing }, (thing) => Effect.succeed(thing))
  .action("neighbours", { success: Schema.Array(Thing), deprecated: true }, (thing) => Effect.succeed([thing, thing]))
  .action(
    "rename",
    {
      payload: { text: Schema.String.pipe(Validator.notEmpty), from: Schema.optionalKey(Model.Date) },
      success: Schema.Struct({ text: Schema.String, at: Model.DateTime, day: Schema.optionalKey(Model.Date) }),
      error: [Refused, Missing]
    },
    ({ count }, { payload: { text } }) =>
      count < 0 ? Effect.fail(refused(count)) : Effect.succeed({ text, at, day: at })
  )
  .action("compare", {
    method: "GET",
    payload: { other: Schema.String, times: Schema.optionalKey(Schema.Int.pipe(Validator.min(1), Validator.max(9))) },
    success: Schema.Boolean
  }, ({ id }, { payload: { other } }) => Effect.succeed(id === other))
  .action(
    "forget",
    { method: "DELETE", payload: { really: Schema.Boolean }, error: Missing },
    (_, { payload: { really } }) => really ? Effect.void : Effect.fail(new Missing())
  )
  .action(
    "attach",
    { method: "PATCH", path: "./attach/{place}", payload: Part, success: Part },
    (_, { payload }) => Effect.succeed(payload)
  )

const Slots = Resource.make(Slot, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })

/** Hooks may fail with what any operation may. */
const Branches = Resource.make(Branch, { methods: ["GET", "POST", "PATCH"] })
  .beforePost(({ name }) =>
    name.length === 3 ? Effect.flatMap(Repository.for(Branch), (branches) => branches.findById("none")) : Effect.void
  )

const Services = Service.make("ProbeService")
  .operation("echo", {
    method: "POST",
    path: "./",
    payload: View,
    success: View,
    tags: ["echo", "probes"],
    description: "Gives back what it gets."
  }, ({ payload }) => Effect.succeed(payload))
  .operation("list", {
    path: "./",
    query: {
      limit: Schema.optionalKey(Schema.Int.pipe(Validator.min(0), Validator.max(3))),
      ratio: Schema.optionalKey(Schema.Finite),
      flag: Schema.optionalKey(Schema.Boolean),
      kind: Schema.optionalKey(Schema.Literals(["a", "b"])),
      day: Schema.optionalKey(Model.Date),
      names: Schema.optionalKey(Schema.Array(Schema.String)),
      text: Schema.optionalKey(Schema.String.pipe(Validator.notEmpty))
    },
    success: Schema.Array(View)
  }, ({ query }) =>
    Effect.succeed(
      Array.from({ length: query.limit ?? 1 }, (_, i) => new View({ id: String(i), name: "x", at, pin: "1234" }))
    ))
  .operation(
    "needed",
    { query: { count: Schema.Int, name: Schema.String }, success: Schema.Int },
    ({ query }) => Effect.succeed(query.count)
  )
  .operation("below", {
    path: "/probe/:name/{part}",
    success: Schema.Struct({ name: Schema.String, part: Schema.NullOr(Schema.String) })
  }, ({ params }) => Effect.succeed(params))
  .operation("nothing", { method: "DELETE", deprecated: true }, () => Effect.void)
  .operation("moments", { success: Schema.Array(Model.DateTime) }, () => Effect.succeed([at]))
  .operation("kinds", { success: Schema.Array(Schema.Literals(["a", "b"])) }, () => Effect.succeed(["a" as const]))
  .operation("map", { success: Schema.Record(Schema.String, Model.Date) }, () => Effect.succeed({ x: at }))
  .operation("maybe", { success: Schema.UndefinedOr(Schema.String) }, () => Effect.succeed(undefined))
  .operation("wide", {
    method: "PUT",
    payload: { numbers: Schema.Array(Schema.Int), part: Part, at: Schema.optionalKey(Model.DateTime) },
    success: Schema.Array(Schema.Int),
    error: [Refused, Locked]
  }, ({ payload: { numbers } }) => numbers.length === 1 ? Effect.fail(refused(1)) : Effect.succeed(numbers))
  .operation("count", { success: Schema.Int }, () => Effect.flatMap(Repository.for(Thing), (things) => things.count()))

export const engine = KernelEngine.make("every-field")
  .register(Things, { urlBase: "/api/v1", tags: ["things", "all"] })
  .register(Slots, { urlBase: "/api/v1", enableHateoas: false })
  .register(Branches)
  .register(Thing, { urlBase: "/api/v2", name: "things_v2", methods: ["GET", "POST"] })
  .register(Services, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "Everything", version: "1.0.0" })
