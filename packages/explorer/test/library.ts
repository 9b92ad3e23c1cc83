/** A library whose people look at it in the explorer: editors, readers who see less, and some who see nothing. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { builtExplorer } from "../../../scripts/explorer.ts"
import {
  Accounts,
  Authenticated,
  Converter,
  EmbeddedStore,
  FileStore,
  History,
  Index,
  Job,
  Jwt,
  KernelConfig,
  KernelEngine,
  Model,
  Monitoring,
  Resource,
  Role,
  Service,
  Tokens,
  Translations,
  Validator,
  Webhooks
} from "../../../src/index.ts"
import { quickHashes } from "../../../test/support/quickHashes.ts"

class Person extends Model.Class<Person>()("Person", {
  id: Model.id({ prefix: "N" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => []))
}) {}

class Author extends Model.Class<Author>()("Author", {
  id: Model.id({ prefix: "A" }),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(200))
}, { logged: true }) {}

class Chapter extends Model.Class<Chapter>()("Chapter", {
  heading: Schema.String.pipe(Validator.notEmpty),
  pages: Schema.Int.pipe(Validator.min(1))
}) {}

class Book extends Model.Class<Book>()("Book", {
  id: Model.id({ prefix: "B" }),
  title: Schema.String.pipe(Validator.notEmpty),
  author: Model.reference(() => Author).pipe(Model.optional),
  state: Schema.Literals(["draft", "printed", "sold_out"]).annotate({ identifier: "BookState" }),
  price: Schema.Finite.pipe(Validator.min(0)),
  /** What it costs to print. */
  cost: Schema.Finite.pipe(Validator.min(0), Model.optional),
  published: Model.DateTime.pipe(Model.optional),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  chapters: Schema.Array(Chapter).pipe(Model.withDefault(() => [])),
  notes: Schema.String.pipe(Model.optional),
  ...Model.versioned,
  ...Model.historied,
  ...Model.softDeleted
}, { logged: true }) {}

class Spot extends Model.Class<Spot>()("Spot", {
  row: Schema.NullOr(Schema.Int),
  label: Schema.String
}) {}

class Rack extends Model.Class<Rack>()("Rack", {
  id: Model.id({ prefix: "R" }),
  name: Schema.String,
  depth: Schema.NullOr(Schema.Int),
  width: Schema.Finite.pipe(Model.optional),
  spot: Spot,
  boards: Schema.Array(Spot).pipe(Model.optional),
  extra: Schema.Json.pipe(Model.optional),
  pin: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted, Model.optional),
  ...Model.versioned
}, { logged: true }) {}

class Poster extends Model.Class<Poster>()("Poster", {
  id: Model.id({ prefix: "O" }),
  name: Schema.String.pipe(Validator.notEmpty),
  picture: Model.file({ types: ["image/png"], maxSize: "20 kB", image: { small: { width: 32 } } }).pipe(Model.optional),
  sheets: Model.files({ types: ["image/png", "application/pdf"], maxSize: "20 kB", image: { small: { width: 32 } } }),
  ...Model.versioned
}) {}

class Genre extends Model.Class<Genre>()("Genre", {
  id: Schema.String.pipe(Validator.notEmpty),
  name: Schema.String
}) {}

const Books = Resource.make(Book, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .action(
    "reprint",
    { summary: "Print more", payload: { copies: Schema.Int.pipe(Validator.min(1)) }, success: Schema.String },
    ({ title }, { payload: { copies } }) => Effect.succeed(`${copies} more of ${title}`)
  )
  .action(History.revisions(Book))
  .action(History.revision(Book))
  .action(History.restore(Book))
  .action(History.deleted(Book))
  .action(History.restoreDeleted(Book))
  .grant(Role("reader"), { methods: "GET", hide: ["cost"] })
  .require(Role("editor"))
  .require(Role("chief"))

const Authors = Resource.make(Author, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .grant([Role("reader"), Role("operator")], { methods: "GET" })
  .require(Role("editor"))

const Stock = Service.make("StockService")
  .operation("order_paper", {
    method: "POST",
    path: "./paper",
    payload: { sheets: Schema.Int.pipe(Validator.min(1)) },
    success: Schema.String,
    summary: "Order paper",
    require: Role("editor")
  }, ({ payload: { sheets } }) => Effect.succeed(`${sheets} sheets are on their way`))

const engine = KernelEngine.make("library")
  .register(Books, { many: ["PATCH", "DELETE"] })
  .register(Authors)
  .register(Resource.make(Genre, { methods: ["GET", "POST"] }).require(Role("editor")))
  .register(
    Resource.make(Poster, { methods: ["GET", "POST", "PATCH"] })
      .grant(Role("reader"), { methods: "GET" })
      .require(Role("editor"))
  )
  .register(Resource.make(Rack, { methods: ["GET", "POST", "PATCH"] }).require(Role("editor")))
  .register(
    Resource.make(Job.Queued, { methods: ["GET"] }).grant(Role("operator"), { methods: "GET", hide: ["element"] }),
    { segment: "jobs", name: "jobs" }
  )
  .register(Resource.make(Webhooks.Delivery, { methods: ["GET"] }).require(Role("operator")), {
    segment: "deliveries",
    name: "deliveries"
  })
  .register(Resource.make(Person, { methods: ["GET", "POST"] }).require(Role("chief")))
  .register(Tokens.service)
  .register(Stock, { segment: "stock", name: "stock" })
  .enableSecurity()
  .enableExplorer({ require: Authenticated })

const translations = Layer.provide(
  Translations.layerWith({ path: fileURLToPath(new URL("translations", import.meta.url)), languages: ["en", "de"] }),
  NodeServices.layer
)

/** The state of the stove is none that readers may see. */
const monitoring = Monitoring.layer({
  checks: { stove: Effect.fail({ message: "it is cold" }) },
  require: Role("operator")
})

/** So many documents can be written at once. */
const limits = Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), maxMany: 28 })

export const password = "correct horse"

/** The library on a port of its own, with its page, on a store that may have been used before. */
export const libraryOn = Effect.fnUntraced(function*(store: typeof EmbeddedStore.layer) {
  yield* Effect.promise(() => builtExplorer())
  const accounts = Accounts.fromModel(Person, { login: "email", secret: "password" })
  const started = yield* engine.test({
    store: Layer.mergeAll(store, FileStore.layerMemory, Jwt.layer, accounts, translations, monitoring, limits)
  })
  return { ...started, editor: yield* started.as({ subject: "N-somebody-else", roles: ["editor"] }) }
}, Effect.provide(quickHashes))

/** The library with somebody of each role: `editor@example.com`. */
export const libraryWithPeopleOn = Effect.fnUntraced(function*(store: typeof EmbeddedStore.layer) {
  const started = yield* libraryOn(store)
  for (const role of ["editor", "reader", "operator", "chief", "stranger"]) {
    const person = { email: `${role}@example.com`, password, roles: [role] }
    yield* started.repositories.persons.insert(yield* Model.finalise(Person, person))
  }
  return started
}, Effect.provide(quickHashes))

export const library = libraryWithPeopleOn(EmbeddedStore.layerMemory)
