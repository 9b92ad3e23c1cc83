import { assert, it as tests } from "@effect/vitest"
import { Cause, DateTime, Deferred, Duration, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, FileStore, Generator, Index, Model, Repository, RepositoryError } from "../../../src/index.ts"
import { declaredQuotas, type FileQuotas } from "../../../src/Repository/internal.ts"

class Side extends Model.Class<Side>()("Side", { scan: Model.file().pipe(Model.optional) }) {}

class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id(),
  title: Schema.String,
  picture: Model.file().pipe(Model.optional),
  pages: Model.files(),
  sides: Schema.Array(Side).pipe(Model.optional)
}) {}

class Album extends Model.Class<Album>()("Album", {
  id: Model.id(),
  cover: Model.file().pipe(Model.optional),
  ...Model.historied,
  ...Model.softDeleted
}) {}

class Print extends Model.Class<Print>()("Print", {
  id: Model.id(),
  photo: Model.reference(() => Photo, { onDelete: "cascade" }),
  scan: Model.file().pipe(Model.optional),
  until: Model.DateTime.pipe(Model.optional, Model.indexed(Index.expireAfter(0)))
}) {}

class Pass extends Model.Class<Pass>()("Pass", {
  id: Model.ObjectId.pipe(Model.generated(Generator.objectId)),
  portrait: Model.file().pipe(Model.optional),
  until: Model.DateTime.pipe(Model.optional, Model.indexed(Index.expireAfter(0))),
  ...Model.historied
}) {}

class Scan extends Model.Class<Scan>()("Scan", {
  id: Model.id(),
  owner: Schema.String.pipe(Model.optional),
  page: Model.file().pipe(Model.optional),
  until: Model.DateTime.pipe(Model.optional, Model.indexed(Index.expireAfter(0)))
}) {}

/** What {@link Letter} was. */
class OldLetter extends Model.Class<OldLetter>()("Letter", {
  id: Model.id(),
  user: Schema.String,
  scan: Model.file().pipe(Model.optional)
}) {}

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id(),
  owner: Schema.String,
  page: Model.file().pipe(Model.optional)
}, { versions: [Model.was.renamed("user", "owner"), Model.was.renamed("scan", "page")] }) {}

const LetterV1 = Model.form(Letter, 1, OldLetter)

/** What {@link Card} was. */
class OldCard extends Model.Class<OldCard>()("Card", { id: Model.id(), title: Schema.String }) {}

class Card extends Model.Class<Card>()("Card", {
  id: Model.id(),
  title: Schema.String,
  picture: Model.file().pipe(Model.optional)
}, { versions: [Model.was.added("picture")] }) {}

const CardV1 = Model.form(Card, 1, OldCard)

/** What {@link Sheet} was. */
class OldSheet extends Model.Class<OldSheet>()("Sheet", {
  id: Model.id(),
  scan: Model.file().pipe(Model.optional),
  ...Model.historied
}) {}

class Sheet extends Model.Class<Sheet>()("Sheet", {
  id: Model.id(),
  page: Model.file().pipe(Model.optional),
  ...Model.historied
}, { versions: [Model.was.renamed("scan", "page")] }) {}

const SheetV1 = Model.form(Sheet, 1, OldSheet)

/** What {@link Stamp} was. */
class OldStamp extends Model.Class<OldStamp>()("Stamp", {
  id: Model.id(),
  price: Schema.String,
  note: Schema.String,
  scan: Model.file().pipe(Model.optional)
}) {}

class Stamp extends Model.Class<Stamp>()("Stamp", {
  id: Model.id(),
  price: Schema.BigInt,
  note: Schema.String,
  page: Model.file().pipe(Model.optional)
}, {
  versions: [
    Model.was.retyped("price", Schema.String, { up: BigInt, down: String }),
    Model.was.renamed("scan", "page")
  ]
}) {}

const Step = Schema.Struct({
  do: Schema.Literals([
    "insert",
    "insert many",
    "replace",
    "remove",
    "append",
    "drop",
    "copy",
    "delete",
    "delete many",
    "roll back",
    "print",
    "expire prints",
    "album",
    "change album",
    "delete album",
    "restore album",
    "purge album",
    "purge history",
    "leave bytes",
    "sweep"
  ]),
  id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
})

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 12)

/** The layer has the documents and their files. Each time it is built, both are empty. */
export const fileWriterContract = <E>(
  name: string,
  store: Layer.Layer<DocumentStore.DocumentStore | FileStore.FileStore, E>
): void => {
  const layer = Layer.mergeAll(
    Repository.layer(Photo),
    Repository.layer(Album),
    Repository.layer(Print),
    Repository.layer(Pass),
    Repository.layer(Scan)
  ).pipe(
    Layer.provideMerge(store)
  )
  tests.layer(layer)(`Files of documents / ${name}`, (it) => {
    it.effect("refuses a document whose bytes are not there, and keeps the stored one", () =>
      Effect.gen(function*() {
        const photos = yield* Repository.for(Photo)
        const { id } = yield* photos.insert(new Photo({ title: "a", picture: yield* uploaded }))
        const stored = yield* photos.findById(id)
        const missing = { ...stored.picture!, id: "0".repeat(32) }
        for (
          const write of [
            photos.insert(new Photo({ title: "b", picture: missing })),
            photos.save(new Photo({ ...stored, picture: missing })),
            photos.modify(id, (one) => Effect.succeed(new Photo({ ...one, pages: [missing] }))),
            photos.updateOne(undefined, ($) => [$.picture.set(missing)]),
            photos.bulkInsert([new Photo({ title: "c", sides: [new Side({ scan: missing })] })])
          ]
        ) {
          const error = yield* Effect.flip<unknown, unknown, never>(write)
          assert.include(JSON.stringify(error) + String(error), "must be a file that is stored")
        }
        assert.deepStrictEqual(yield* photos.findById(id), stored)
        assert.strictEqual(yield* photos.count(), 1)
        yield* photos.deleteAll
      }))

    it.effect("leaves the bytes that nobody refers to any more to those who read them, and sweeps them after the grace", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2100, 0))
        const sweep = Repository.sweepFiles({ grace: Duration.minutes(10) })
        const [photos, files] = [yield* Repository.for(Photo), yield* FileStore.FileStore]
        const [one, other] = [yield* uploaded, yield* uploaded]
        const { id } = yield* photos.insert(new Photo({ title: "a", picture: one, pages: [other] }))
        yield* photos.insert(new Photo({ title: "b", picture: other }))
        yield* Repository.transaction(Effect.gen(function*() {
          yield* photos.modify(id, ({ pages, title }) => Effect.succeed(new Photo({ id, pages, title })))
          assert.strictEqual((yield* files.stat(one.id)).size, one.size)
        }))
        yield* sweep
        // Somebody may still read it who has read the document.
        assert.deepStrictEqual(yield* stored, [one.id, other.id].toSorted())
        yield* TestClock.adjust("9 minutes")
        yield* photos.deleteMany(($) => $.title.equals("a"))
        yield* sweep
        assert.deepStrictEqual(yield* stored, [one.id, other.id].toSorted())
        yield* TestClock.adjust("1 minute")
        yield* sweep
        assert.deepStrictEqual(yield* stored, [other.id])
        yield* photos.deleteAll
        yield* sweep
        assert.deepStrictEqual(yield* stored, [other.id])
        yield* TestClock.adjust("10 minutes")
        yield* sweep
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("leaves bytes alone while somebody holds the store of files, and sweeps them afterwards", () =>
      Effect.gen(function*() {
        const [photos, files] = [yield* Repository.for(Photo), yield* FileStore.FileStore]
        yield* TestClock.setTime(Date.UTC(2100, 0))
        const picture = yield* uploaded
        yield* Effect.scoped(Effect.gen(function*() {
          const { id } = yield* photos.insert(new Photo({ title: "a", picture }))
          yield* files.hold
          yield* photos.deleteById(id)
          yield* swept
          assert.deepStrictEqual(yield* stored, [picture.id])
        }))
        yield* swept
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("sweeps once in an interval, whoever asks", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2100, 0))
        const sweeps = (options: Parameters<typeof Repository.sweepFiles>[0]) =>
          Effect.map(
            Effect.all([1, 2, 3].map(() => Repository.sweepFiles(options)), { concurrency: 3 }),
            (counts) => counts.reduce((sum, count) => sum + count)
          )
        const every = Duration.hours(1)
        yield* sweeps({ grace: Duration.zero, every })
        yield* uploaded
        yield* TestClock.adjust("50 minutes")
        assert.strictEqual(yield* sweeps({ grace: Duration.zero, every }), 0)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* sweeps({ grace: Duration.days(100_000), every }), 0)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* sweeps({ grace: Duration.zero, every }), 1)
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("hold the quotas of a model and of its owners, whoever writes at once, and get back what is removed", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2099, 0))
        const [scans, store] = [yield* Repository.for(Scan), yield* DocumentStore.DocumentStore]
        // Those that are there before the quotas count as well, and once if a start is repeated.
        const first = yield* scans.insert(new Scan({ owner: "ann", page: yield* uploaded }))
        const begun = quotasOf({ quota: 20, quotaBy: { owner: 15 } })
        yield* begun
        yield* store.deleteMany("appkernel_files", { _id: "quota/Scan" })
        const room = yield* begun
        assert.deepStrictEqual(yield* usage, { "usage/Scan": 1, "usage/Scan/owner/ann": 1 })
        const writers = (owner: string) =>
          Effect.forEach(Array.from({ length: 25 }), () =>
            Effect.exit(
              Effect.flatMap(uploaded, (page) => scans.insert(new Scan({ owner, page })))
            ), { concurrency: 25 })
        const exits = (yield* TestClock.withLive(
          Effect.all([writers("ann"), writers("bob")], { concurrency: 2 })
        )).flat()
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 19)
        const errors = exits.flatMap((exit) => Exit.isFailure(exit) ? [Cause.squash(exit.cause)] : [])
        assert.isTrue(errors.every((error) => error instanceof RepositoryError.FileQuotaExceeded))
        const counted = yield* usage
        const owned = (owner: string) => scans.count(($) => $.owner.equals(owner))
        assert.deepStrictEqual(counted, {
          "usage/Scan": 20,
          "usage/Scan/owner/ann": yield* owned("ann"),
          "usage/Scan/owner/bob": yield* owned("bob")
        })
        assert.isAtMost(yield* owned("ann"), 15)
        assert.strictEqual((yield* room({ owner: "eve" }))?.bytes, 0)

        // A replacement needs no room, and a file that is used twice counts for both.
        const page = yield* uploaded
        yield* scans.modify(first.id, (one) => Effect.succeed(new Scan({ ...one, page })))
        assert.deepStrictEqual(yield* usage, counted)
        yield* scans.deleteMany(($) => $.id.notEquals(first.id))
        assert.deepStrictEqual(yield* usage, { "usage/Scan": 1, "usage/Scan/owner/ann": 1 })
        const { id: other } = yield* scans.insert(new Scan({ owner: "ann", page }))
        assert.deepStrictEqual(yield* usage, { "usage/Scan": 2, "usage/Scan/owner/ann": 2 })
        // Another owner has what the document has.
        yield* scans.updateOne(($) => $.id.equals(other), ($) => [$.owner.set("bob")])
        assert.deepStrictEqual(yield* usage, {
          "usage/Scan": 2,
          "usage/Scan/owner/ann": 1,
          "usage/Scan/owner/bob": 1
        })
        // Nothing is counted of what is rolled back.
        yield* Effect.exit(Repository.transaction(Effect.gen(function*() {
          yield* scans.deleteById(other)
          yield* scans.insert(new Scan({ owner: "eve", page: yield* uploaded }))
          return yield* Effect.fail("no")
        })))
        // One that expires is let go of by the sweep.
        yield* store.deleteMany("Scan", { _id: first.id })
        yield* swept
        assert.deepStrictEqual(yield* usage, { "usage/Scan": 1, "usage/Scan/owner/bob": 1 })
        yield* quotasOf(undefined)
        yield* scans.deleteAll
        yield* swept
        assert.deepStrictEqual(yield* usage, {})
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("hold the quotas of the newest version, in whichever one documents are stored and written", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2099, 0))
        const old = yield* Repository.make(OldLetter)
        const first = yield* old.insert(new OldLetter({ user: "ann", scan: yield* uploaded }))
        const [letters, earlier] = [yield* Repository.make(Letter), yield* Repository.make(LetterV1)]
        const room = yield* quotasOf({ quota: undefined, quotaBy: { owner: 2 } }, Letter)
        assert.deepStrictEqual(yield* usage, { "usage/Letter/owner/ann": 1 })
        assert.strictEqual((yield* room({ owner: "ann" }))?.bytes, fileSize)

        const made = Effect.map(uploaded, (scan) => new LetterV1({ user: "ann", scan }))
        const second = yield* earlier.insert(yield* made)
        assert.deepStrictEqual(yield* usage, { "usage/Letter/owner/ann": 2 })
        const third = yield* Effect.flip(earlier.insert(yield* made))
        assert.instanceOf(third, RepositoryError.FileQuotaExceeded)
        yield* earlier.updateOne(($) => $.id.equals(second.id), ($) => [$.user.set("bob")])
        assert.deepStrictEqual(yield* usage, { "usage/Letter/owner/ann": 1, "usage/Letter/owner/bob": 1 })
        // A replacement counts once, and what is let go of is free.
        yield* earlier.patch(first.id, { scan: yield* uploaded })
        assert.deepStrictEqual(yield* usage, { "usage/Letter/owner/ann": 1, "usage/Letter/owner/bob": 1 })
        yield* earlier.deleteById(second.id)
        assert.deepStrictEqual(yield* usage, { "usage/Letter/owner/ann": 1 })
        yield* letters.deleteAll
        yield* quotasOf(undefined, Letter)
        yield* swept
        assert.deepStrictEqual(yield* usage, {})
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("lets go of the files of a document that is deleted in a form without files", () =>
      Effect.gen(function*() {
        const [cards, earlier] = [yield* Repository.make(Card), yield* Repository.make(CardV1)]
        const [first, second] = [yield* uploaded, yield* uploaded]
        yield* cards.insert(new Card({ id: "a", title: "a", picture: first }))
        yield* cards.insert(new Card({ id: "b", title: "b", picture: second }))
        yield* earlier.patch("a", { title: "c" })
        yield* earlier.replace(new OldCard({ id: "b", title: "d" }))
        yield* swept
        assert.deepStrictEqual(yield* stored, [first.id, second.id].toSorted())
        yield* earlier.deleteById("a")
        yield* swept
        assert.deepStrictEqual(yield* stored, [second.id])
        yield* earlier.deleteMany(($) => $.title.equals("d"))
        yield* swept
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("keeps the files of states that a history has in any form of the model, until it is purged", () =>
      Effect.gen(function*() {
        const [old, sheets] = [yield* Repository.make(OldSheet), yield* Repository.make(Sheet)]
        const earlier = yield* Repository.make(SheetV1)
        const [first, second, viewed] = [yield* uploaded, yield* uploaded, yield* uploaded]
        yield* old.insert(new OldSheet({ id: "A", scan: first }))
        yield* sheets.patch("A", { page: second })
        yield* sheets.insert(new Sheet({ id: "B", page: viewed }))
        yield* earlier.patch("B", { scan: null })
        yield* swept
        assert.deepStrictEqual(yield* stored, [first.id, second.id, viewed.id].toSorted())
        yield* sheets.history.purge("A")
        yield* earlier.history.purge("B")
        yield* swept
        assert.deepStrictEqual(yield* stored, [second.id])
        yield* earlier.deleteById("A")
        yield* earlier.history.purge("A")
        yield* swept
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("holds the files of a document without a way up until it is deleted", () =>
      Effect.gen(function*() {
        const [old, stamps] = [yield* Repository.make(OldStamp), yield* Repository.make(Stamp)]
        const [first, second, third] = [yield* uploaded, yield* uploaded, yield* uploaded]
        yield* old.insert(new OldStamp({ id: "A", price: "none", note: "a", scan: first }))
        yield* old.insert(new OldStamp({ id: "B", price: "none", note: "b", scan: second }))
        yield* old.insert(new OldStamp({ id: "C", price: "3", note: "b", scan: third }))
        yield* stamps.updateMany(undefined, ($) => [$.note.set("b")])
        yield* swept
        assert.deepStrictEqual(yield* stored, [first.id, second.id, third.id].toSorted())
        yield* stamps.deleteById("A")
        yield* swept
        assert.deepStrictEqual(yield* stored, [second.id, third.id].toSorted())
        yield* stamps.deleteMany(($) => $.note.equals("b"))
        yield* swept
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("lets go of the files of documents that expired, but not of those in a history, or of documents that are there", () =>
      Effect.gen(function*() {
        const [prints, passes] = [yield* Repository.for(Print), yield* Repository.for(Pass)]
        const [photos, store] = [yield* Repository.for(Photo), yield* DocumentStore.DocumentStore]
        const [gone, both, kept, past] = [yield* uploaded, yield* uploaded, yield* uploaded, yield* uploaded]
        yield* photos.insert(new Photo({ id: "p", title: "a" }))
        yield* prints.bulkInsert([gone, both, kept].map((scan, n) => new Print({ id: String(n), photo: "p", scan })))
        const { id } = yield* passes.insert(new Pass({ portrait: both }))
        yield* passes.modify(id, () => Effect.succeed(new Pass({ id, portrait: past })))
        const { id: other } = yield* passes.insert(new Pass({ portrait: yield* uploaded }))
        const { portrait: own = past } = yield* passes.findById(other)
        yield* store.deleteMany("Print", { _id: { $in: ["0", "1"] } })
        yield* store.deleteMany("Pass", { "portrait.id": past.id })
        // The one that has the identifier of a document that expired has no file.
        yield* prints.insert(new Print({ id: "0", photo: "p" }))
        yield* swept
        assert.deepStrictEqual(yield* stored, [both.id, kept.id, past.id, own.id].toSorted())
        yield* passes.history.purge(id)
        yield* swept
        assert.deepStrictEqual(yield* stored, [kept.id, own.id].toSorted())
        yield* passes.deleteAll
        yield* passes.history.purge(other)
        yield* prints.deleteAll
        yield* photos.deleteAll
        yield* swept
        assert.deepStrictEqual(yield* stored, [])
      }))

    it.effect("keeps what a document and its history refer to, and nothing else, when the history is purged during a write", () =>
      TestClock.withLive(Effect.gen(function*() {
        const albums = yield* Repository.for(Album)
        const [before, after] = [yield* uploaded, yield* uploaded]
        const [{ id: one }, { id: other }] = [
          yield* albums.insert(new Album({ cover: yield* uploaded })),
          yield* albums.insert(new Album({ cover: before }))
        ]
        yield* albums.modify(other, (album) => Effect.succeed(new Album({ ...album, cover: after })))
        const next = yield* uploaded
        for (const [id, cover] of [[one, next], [other, before]] as const) {
          const isPurged = yield* Deferred.make<void>()
          const writing = yield* Effect.forkChild(Effect.andThen(
            Deferred.await(isPurged),
            Effect.exit(albums.modify(id, (album) => Effect.succeed(new Album({ ...album, cover }))))
          ))
          yield* Repository.transaction(Effect.gen(function*() {
            yield* albums.history.purge(id)
            yield* Deferred.succeed(isPurged, undefined)
            // A write that conflicts with this transaction has to wait for it.
            yield* Effect.timeoutOption(Fiber.await(writing), "200 millis")
          }))
          yield* Fiber.await(writing)
        }
        yield* complete
      })).pipe(
        Effect.andThen(swept),
        Effect.andThen(complete),
        Effect.andThen(Effect.gen(function*() {
          assert.deepStrictEqual(yield* stored, [...yield* referred].toSorted())
        }))
      ))

    it.effect.prop(
      "has the bytes of all documents at any time and no others after a sweep, whatever many writers do at once",
      [
        Schema.Array(Schema.Array(Step).check(Schema.isMinLength(5), Schema.isMaxLength(14))).check(
          Schema.isMinLength(1),
          Schema.isMaxLength(4)
        )
      ],
      ([lists]) =>
        Effect.gen(function*() {
          // Attempts of a transaction after the first may wait for a moment.
          yield* TestClock.withLive(Effect.gen(function*() {
            const watching = yield* Effect.forkChild(Effect.forever(complete))
            const results = yield* Effect.forEach(
              lists,
              (steps, n) => Effect.forEach(steps, (step) => Effect.exit(run(step, n)), { concurrency: 1 }),
              { concurrency: 4 }
            )
            const died = results.flat().find((exit) => Exit.hasDies(exit))
            if (died !== undefined) yield* died
            const exit = yield* Fiber.interrupt(watching).pipe(Effect.andThen(Fiber.await(watching)))
            if (Exit.isFailure(exit) && !Exit.hasInterrupts(exit)) return yield* exit
          }))
          yield* complete
          yield* swept
          assert.deepStrictEqual(yield* stored, [...yield* referred].toSorted())
        }),
      { arbitrary: { runs } }
    )
  })
}

// internal

const uploaded = Effect.gen(function*() {
  const files = yield* FileStore.FileStore
  const { id, sha256, size } = yield* files.put(Stream.make(new TextEncoder().encode(crypto.randomUUID())))
  return { id, sha256, size, key: "k", name: "a.txt", type: "text/plain", at: DateTime.makeUnsafe(0) }
})

/** Says the quotas of a model, in files, which an engine does from its registrations. */
const quotasOf = Effect.fnUntraced(function*(quotas: FileQuotas | undefined, model: Model.Any = Scan) {
  const stores = { store: yield* DocumentStore.DocumentStore, files: yield* FileStore.FileStore }
  const inBytes = quotas && {
    quota: quotas.quota && quotas.quota * fileSize,
    quotaBy: Object.fromEntries(Object.entries(quotas.quotaBy).map(([field, files]) => [field, files * fileSize]))
  }
  return yield* declaredQuotas(stores, model, inBytes)
})

/** The bytes of one of {@link uploaded}. */
const fileSize = crypto.randomUUID().length

/** How many files count for each quota. */
const usage = Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  const all = yield* store.find("appkernel_files", { filter: { bytes: { $exists: true } }, sort: { _id: 1 } })
  return Object.fromEntries(all.map(({ _id, bytes }) => [String(_id), Number(bytes) / fileSize]))
})

/** By this clock, all that is left of uploads is old. */
const swept = TestClock.setTime(Date.UTC(2100, 0)).pipe(
  Effect.andThen(Repository.sweepFiles({ grace: Duration.zero }))
)

const stored = Effect.gen(function*() {
  const files = yield* FileStore.FileStore
  return (yield* Stream.runCollect(files.entries)).map(({ id }) => id).toSorted()
})

/** What documents and their histories refer to. */
const referred = Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    const { id, sha256 } = value as { readonly id?: unknown; readonly sha256?: unknown }
    if (typeof id === "string" && sha256 !== undefined) found.add(id)
    else for (const inner of Object.values(value)) visit(inner)
  }
  const all = ["Photo", "Album", "Album.history", "Print"].map((collection) => store.find(collection, {}))
  for (const documents of yield* store.transaction(Effect.all(all))) for (const document of documents) visit(document)
  return found
})

/** Dies if a document lacks its bytes. They may have gone since it was read, and so has the document then. */
const complete = Effect.gen(function*() {
  const files = yield* FileStore.FileStore
  const missing: Array<string> = []
  for (const id of yield* referred) if (Exit.isFailure(yield* Effect.exit(files.stat(id)))) missing.push(id)
  const still = missing.length === 0 ? new Set<string>() : yield* referred
  assert.deepStrictEqual(missing.filter((id) => still.has(id)), [])
}).pipe(Effect.orDie)

const run = Effect.fnUntraced(function*({ do: what, id: number }: typeof Step.Type, writer: number) {
  const [photos, albums, prints] = [
    yield* Repository.for(Photo),
    yield* Repository.for(Album),
    yield* Repository.for(Print)
  ]
  const id = String(number)
  switch (what) {
    case "insert":
      return yield* photos.insert(new Photo({ id, title: "a", picture: yield* uploaded, pages: [yield* uploaded] }))
    case "insert many": {
      const ids = [id, String((number + 1) % 4), `${id}-${writer}`]
      const side = new Side({ scan: yield* uploaded })
      return yield* photos.bulkInsert(ids.map((id) => new Photo({ id, title: "b", sides: [side] })), { ordered: false })
    }
    case "replace": {
      const picture = yield* uploaded
      return yield* photos.save(new Photo({ id, title: "c", picture }))
    }
    case "remove":
      return yield* photos.modify(id, ({ pages, title }) => Effect.succeed(new Photo({ id, pages, title })))
    case "append": {
      const page = yield* uploaded
      return yield* photos.updateMany(undefined, ($) => [$.pages.append(page)])
    }
    case "drop":
      return yield* photos.findOneAndUpdate(($) => $.title.equals("a"), ($) => [$.pages.set([])], { sort: "-id" })
    case "copy": {
      const { picture } = yield* photos.findById(id)
      const other = String((number + 1) % 4)
      return yield* photos.modify(
        other,
        (one) =>
          Effect.succeed(new Photo({ ...one, sides: picture === undefined ? [] : [new Side({ scan: picture })] }))
      )
    }
    case "delete":
      return yield* photos.deleteById(id)
    case "delete many":
      return yield* photos.deleteMany(($) => $.title.equals("b"))
    case "roll back": {
      const picture = yield* uploaded
      return yield* Repository.transaction(Effect.gen(function*() {
        yield* photos.save(new Photo({ id, title: "d", picture }))
        yield* photos.deleteMany(($) => $.title.equals("a"))
        return yield* Effect.fail("no")
      }))
    }
    case "print":
      return yield* prints.insert(new Print({ photo: id, scan: yield* uploaded }))
    case "expire prints":
      // What a store does by itself.
      return yield* (yield* DocumentStore.DocumentStore).deleteMany("Print", { photo: id })
    case "album":
      return yield* albums.insert(new Album({ id, cover: yield* uploaded }))
    case "change album": {
      const cover = yield* uploaded
      return yield* albums.modify(id, (one) => Effect.succeed(new Album({ ...one, cover })))
    }
    case "delete album":
      return yield* albums.deleteById(id)
    case "restore album":
      return yield* albums.restoreById(id)
    case "purge album":
      return yield* albums.purgeById(id)
    case "purge history":
      return yield* albums.history.purge(id)
    case "leave bytes":
      return yield* uploaded
    case "sweep":
      return yield* Repository.sweepFiles({ grace: Duration.millis(1) })
  }
})
