/** The models for the tests of queries over HTTP. */
import { DateTime, Effect, Schema } from "effect"
import { DocumentStore, Marshaller, Model, Validator } from "../../src/index.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"

class Home extends Model.Class<Home>()("Home", {
  city: Schema.String,
  pin: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

export class Visit extends Model.Class<Visit>()("Visit", {
  place: Schema.String,
  nights: Schema.Int.pipe(Model.withDefault(() => 1)),
  pin: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

export class Guest extends Model.Class<Guest>()("Guest", {
  id: Model.id(),
  name: Schema.String,
  age: Schema.Int.pipe(Validator.min(0), Model.optional),
  active: Schema.Boolean,
  state: Schema.Literals(["active", "gone", "new"]),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  scores: Schema.Array(Schema.Finite).pipe(Model.withDefault(() => [])),
  note: Schema.String.pipe(Model.optional),
  born: Model.Date.pipe(Model.optional),
  due: Model.Date.pipe(Validator.future, Model.optional),
  seen: Model.DateTime.pipe(Model.optional),
  paid: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp), Model.optional),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  home: Home.pipe(Model.optional),
  visits: Schema.Array(Visit).pipe(Model.withDefault(() => [])),
  secret: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

export class Comment extends Model.Class<Comment>()("Comment", {
  id: Model.id(),
  text: Schema.String,
  hidden: Schema.String.pipe(Model.optional, Model.omitted),
  replies: Schema.Array(Schema.suspend((): Schema.Codec<Comment, unknown> => Comment))
}) {}

export class Awkward extends Model.Class<Awkward>()("Awkward", {
  id: Model.id(),
  count: Schema.Int,
  fields: Schema.String,
  cursor: Schema.String,
  page: Schema.Int
}) {}

class Inner extends Model.Class<Inner>()("Inner", { inner: Schema.String }) {}

export class Sample extends Model.Class<Sample>()("Sample", {
  id: Model.id(),
  text: Schema.String,
  int: Schema.Int,
  float: Schema.Finite,
  flag: Schema.Boolean,
  kind: Schema.Literals(["a", "!b", "[c]"]),
  moment: Model.DateTime,
  day: Model.Date,
  nested: Inner,
  texts: Schema.Array(Schema.String)
}) {}

const at = (text: string) => DateTime.toUtc(DateTime.makeUnsafe(text))

const guests = [
  new Guest({
    id: "A",
    name: "Ann",
    age: 20,
    active: true,
    state: "active",
    tags: ["red", "blue"],
    scores: [1, 9],
    note: ">5",
    born: at("1990-02-01"),
    seen: at("2026-01-31T09:30:00.123Z"),
    paid: at("2023-11-14T22:13:20Z"),
    labels: { colour: "red" },
    home: new Home({ city: "Bern", pin: "1111" }),
    visits: [new Visit({ place: "Bern", pin: "2222" }), new Visit({ place: "Rome", nights: 5 })],
    secret: "abc"
  }),
  new Guest({
    id: "B",
    name: "Bob",
    age: 30,
    active: false,
    state: "gone",
    tags: ["red"],
    scores: [5],
    note: "null",
    born: at("1995-02-01"),
    seen: at("2026-01-31"),
    visits: [new Visit({ place: "Oslo" }), new Visit({ place: "Bern", nights: 3 })],
    secret: "bcd"
  }),
  new Guest({
    id: "C",
    name: "Cid, the third",
    age: 40,
    active: true,
    state: "active",
    tags: ["green"],
    note: "[a,b]",
    seen: at("2026-02-01")
  }),
  new Guest({
    id: "D",
    name: "D\"an=\\",
    age: 50,
    active: false,
    state: "new",
    seen: at("2026-01-30T23:59:59.999Z")
  }),
  new Guest({ id: "E", name: "Eve", active: false, state: "new" })
]

const { toDocument } = documentCodec(Guest)

/** Inserts the guests A to E, unless they exist. */
export const insertGuests = Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  // Its date was in the future when it was written.
  const due = new Date("2019-01-01T00:00:00.000Z")
  const documents = guests.map((guest) => ({ ...toDocument(guest), ...(guest.id === "A" ? { due } : {}) }))
  yield* store.insertMany("guests", documents, { ordered: false })
  return store
})
