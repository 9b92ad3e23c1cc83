/** A project of the tests of the command. */
import { DocumentStore, Index, KernelEngine, Migration, Model } from "appkernel"
import { Config, Effect, Schema, Stream } from "effect"

class Person extends Model.Class<Person>()("Person", {
  id: Model.id(),
  name: Schema.String.pipe(Model.indexed(Index.plain)),
  age: Schema.Int.pipe(Model.withDefault(() => 0)),
  ...Model.historied
}) {}

/** Its text was its body before. */
class Letter extends Model.Class<Letter>()("Letter", { id: Model.id(), text: Schema.String, n: Schema.Int }, {
  versions: [
    Model.was.replaced(["text"], { body: Schema.String }, {
      up: ({ body }) => ({ text: body }),
      down: ({ text }: { readonly text: string }) => ({ body: text })
    })
  ]
}) {}

const store = DocumentStore.DocumentStore

/** Who has run in a transaction that was committed. */
const note = (id: string) =>
  Effect.flatMap(store, ({ insertOne }) => insertOne("runs", { _id: `${id} by ${process.pid}`, id }))

/** How many documents there are, for tests with more or fewer of them. */
const size = Effect.orDie(Config.Int("SIZE").pipe(Config.withDefault(100)))

const fill = Migration.make("0001_fill", () =>
  Effect.gen(function*() {
    const { insertMany } = yield* store
    yield* note("0001_fill")
    const documents = Array.from({ length: yield* size }, (_, n) => ({ _id: n, name: `Person ${n}`, total: 0 }))
    for (let i = 0; i < documents.length; i += 100) yield* insertMany("numbers", documents.slice(i, i + 100))
  }))

/** Not in a transaction, and so in a way that can be repeated. */
const double = Migration.make("0002_double", () =>
  Effect.gen(function*() {
    const { stream, updateOne } = yield* store
    yield* Stream.runForEach(stream("numbers", { filter: { double: { $exists: false } } }), ({ _id }) =>
      updateOne("numbers", { _id, double: { $exists: false } }, [{ $set: { double: { $multiply: ["$_id", 2] } } }]))
  }), { transaction: false })

const add = Migration.make("0003_add", () =>
  Effect.gen(function*() {
    const { updateMany } = yield* store
    yield* note("0003_add")
    yield* updateMany("numbers", {}, { $inc: { total: 1 } })
  }))

export const engine = KernelEngine.make("people")
  .register(Person, { methods: ["GET", "POST"], urlBase: "/api/v1" })
  .register(Letter, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "People", version: "1.0.0" })
  .enableMcp({ expose: ["persons"] })
  .useMigrations([fill, double, add])
