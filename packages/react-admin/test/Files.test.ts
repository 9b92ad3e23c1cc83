/** What the providers do with files that two people write. */
import { connect, KernelConflict, KernelError } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { EmbeddedStore, FileStore, Jwt, KernelEngine, Model, Resource, Role, Validator } from "../../../src/index.ts"

class Poster extends Model.Class<Poster>()("Poster", {
  id: Model.id({ prefix: "O" }),
  name: Schema.String,
  sheet: Model.file({ maxSize: "1 kB" }).pipe(Model.optional),
  ...Model.versioned
}) {}

const engine = KernelEngine.make("posters")
  .register(Resource.make(Poster, { methods: ["GET", "POST", "PATCH"] }))
  .enableOpenApi({ title: "Posters", version: "1.0.0" })

class Deed extends Model.Class<Deed>()("Deed", {
  id: Model.id({ prefix: "D" }),
  scans: Model.files({ types: ["text/plain"] }).pipe(Validator.max(2))
}) {}

const deeds = KernelEngine.make("deeds")
  .register(Resource.make(Deed, { methods: ["GET", "POST", "PATCH"] }))
  .enableOpenApi({ title: "Deeds", version: "1.0.0" })

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id({ prefix: "L" }),
  owner: Schema.String,
  sheet: Model.file({ maxSize: "1 kB" }).pipe(Model.optional)
}) {}

const desk = KernelEngine.make("desk")
  .register(
    Resource.make(Letter, { methods: ["GET", "POST", "PATCH"] })
      .grant(Role("editor"), { methods: "GET", rows: (me) => ($) => $.owner.equals(me.subject) })
      .grant(Role("editor"), { methods: "GET", hide: ["sheet"] })
      .grant(Role("editor"), { methods: ["POST", "PATCH"] })
  )
  .enableSecurity()
  .enableOpenApi({ title: "Desk", version: "1.0.0", perCaller: true })

class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id({ prefix: "P" }),
  picture: Model.file({ maxSize: "1 kB" }),
  scans: Model.files()
}) {}

const photosWith = (methods: ReadonlyArray<"GET" | "POST" | "PATCH">) =>
  KernelEngine.make("photos")
    .register(Resource.make(Photo, { methods }))
    .enableOpenApi({ title: "Photos", version: "1.0.0" })
    .test({ store: Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory) })

const file = (text: string) => new File([text], `${text}.txt`, { type: "text/plain" })

const failureOf = (promise: Promise<unknown>) =>
  promise.then(() => Promise.reject(new Error("It did not fail")), (error: unknown) => error)

describe("Files of the providers", () => {
  it.effect("take the place of no other one than that which was seen, of two editors", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test({ store: Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory) })
      const [one, other] = [connect({ url: baseUrl }).dataProvider, connect({ url: baseUrl }).dataProvider]
      const contentOf = async (id: string | number) => (await fetch(`${baseUrl}/posters/${String(id)}/sheet`)).text()
      yield* Effect.promise(async () => {
        const { data: { id } } = await one.create("posters", { data: { name: "Spring" } })
        const { data: empty } = await one.getOne("posters", { id })
        const write = (provider: typeof one, previousData: { readonly [field: string]: unknown }, sheet: unknown) =>
          provider.update("posters", { id, data: { ...previousData, sheet }, previousData })

        const { data: first } = await write(other, empty, file("first"))
        const late = await failureOf(write(one, empty, file("late")))
        assert.instanceOf(late, KernelConflict)
        assert.deepStrictEqual(late.current?.["sheet"], first["sheet"])
        assert.strictEqual(await contentOf(id), "first")

        const { data: second } = await write(other, first, file("second"))
        for (const sheet of [file("late"), null]) {
          assert.instanceOf(await failureOf(write(one, first, sheet)), KernelConflict)
        }
        assert.strictEqual(await contentOf(id), "second")

        // Who has seen it takes its place.
        const { data: third } = await write(one, second, file("third"))
        assert.strictEqual(await contentOf(id), "third")
        const { data: last } = await write(other, third, null)
        assert.notProperty(last, "sheet")
      })
    }))

  it.effect("of a list are removed when it has those that take their place", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* deeds.test({ store: Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory) })
      const { dataProvider } = connect({ url: baseUrl })
      yield* Effect.promise(async () => {
        const { data: { id } } = await dataProvider.create("deeds", { data: { scans: [file("one")] } })
        /** Replaces all files, and tells the names of those that there are then. */
        const replace = async (...scans: ReadonlyArray<File>) => {
          const { data } = await dataProvider.getOne("deeds", { id })
          const how = await dataProvider.update("deeds", { id, data: { ...data, scans }, previousData: data })
            .then(() => "written", (error: unknown) => error instanceof KernelError ? error.status : error)
          const { data: now } = await dataProvider.getOne<{ id: string; scans: ReadonlyArray<{ name: string }> }>(
            "deeds",
            {
              id
            }
          )
          return [how, ...now.scans.map(({ name }) => name)]
        }
        const other = new File(["%PDF-1.7"], "new.pdf", { type: "application/pdf" })
        assert.deepStrictEqual(await replace(other), [415, "one.txt"])
        // There is no room for more than two at a time.
        assert.deepStrictEqual(await replace(file("two"), file("three")), ["written", "two.txt", "three.txt"])
        assert.deepStrictEqual(await replace(file("four")), ["written", "four.txt"])
      })
    }))

  it.effect("are sent with a new document where they can't be changed later", () =>
    Effect.gen(function*() {
      const setIn = Effect.fnUntraced(function*(...methods: ReadonlyArray<"GET" | "POST" | "PATCH">) {
        const { baseUrl } = yield* photosWith(methods)
        const { dataProvider, describe } = connect({ url: baseUrl })
        const { resources: [photos] } = yield* Effect.promise(() => describe())
        const rights = photos!.fields.filter(({ name }) => name !== "id").map((field) => [
          field.isSetOnCreate,
          field.isSetOnUpdate,
          field.isReadOnly
        ])
        return { dataProvider, rights }
      })
      const { dataProvider, rights } = yield* setIn("GET", "POST")
      assert.deepStrictEqual(rights, [[true, false, false], [true, false, false]])
      const data = { picture: file("one"), scans: [file("two"), file("three")] }
      const { data: made } = yield* Effect.promise(() => dataProvider.create("photos", { data }))
      assert.strictEqual(Array.isArray(made["scans"]) && made["scans"].length, 2)
      assert.deepStrictEqual((yield* setIn("GET", "POST", "PATCH")).rights, [[true, true, false], [true, true, false]])
      assert.deepStrictEqual((yield* setIn("GET")).rights, [[false, false, true], [false, false, true]])
    }))

  it.effect("take the place of one that is hidden from the caller in this document alone", () =>
    Effect.gen(function*() {
      const started = yield* desk.test({
        store: Layer.mergeAll(EmbeddedStore.layerMemory, FileStore.layerMemory, Jwt.layer)
      })
      const { baseUrl } = started
      const token = Redacted.value(yield* started.token({ subject: "ann", roles: ["editor"] }))
      const { authProvider, dataProvider } = connect({ url: baseUrl })
      const contentOf = (id: string | number) =>
        fetch(`${baseUrl}/letters/${String(id)}/sheet`, { headers: { authorization: `Bearer ${token}` } })
      yield* Effect.promise(async () => {
        await authProvider.login({ token })
        const written = async (owner: string) => {
          const { data: { id } } = await dataProvider.create("letters", { data: { owner, sheet: file("first") } })
          const { data: read } = await dataProvider.getOne("letters", { id })
          await dataProvider.update("letters", { id, data: { ...read, sheet: file("second") }, previousData: read })
          return [Object.hasOwn(read, "sheet"), id] as const
        }
        const [isSeen, own] = await written("ann")
        assert.deepStrictEqual([isSeen, await (await contentOf(own)).text()], [true, "second"])
        const [isHiddenSeen, hidden] = await written("ben")
        assert.strictEqual(isHiddenSeen, false)
        // It is hidden still; who owns it sees the second one.
        assert.strictEqual((await contentOf(hidden)).ok, false)
      })
    }))
})
