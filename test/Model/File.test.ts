import { assert, describe, it } from "@effect/vitest"
import { Model } from "appkernel"
import { DateTime, Effect, Schema } from "effect"
import { inspect } from "node:util"
import { expectTypeOf } from "vitest"
import { fileFieldsOf, filesOf } from "../../src/Model/internal.ts"

class Side extends Model.Class<Side>()("Side", { scan: Model.file({ types: ["image/png"] }).pipe(Model.optional) }) {}

class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id({ prefix: "P" }),
  title: Schema.String,
  picture: Model.file({ types: ["image/jpeg"], maxSize: "10 MB" }).pipe(Model.optional),
  pages: Model.files({ types: ["image/png", "image/jpeg"] }),
  back: Side.pipe(Model.optional),
  sides: Schema.Array(Side)
}) {}

class Tree extends Model.Class<Tree>()("Tree", {
  scan: Model.file().pipe(Model.optional),
  // The type of what is stored refers to itself.
  branches: Schema.Array(Schema.suspend((): Schema.Codec<Tree, never> => Tree as never))
}) {}

const file = (id: string): Model.StoredFile => ({
  id,
  key: "k1",
  name: "a.jpg",
  size: 3,
  type: "image/jpeg",
  sha256: "00",
  at: DateTime.makeUnsafe(0)
})

describe("Model.file", () => {
  it("is read and never sent, and its identifier is in no output", () => {
    assert.deepStrictEqual(Object.keys(Photo.create.fields), ["id", "title", "back", "sides"])
    assert.deepStrictEqual(Object.keys(Photo.patch.fields), ["title", "back", "sides"])
    assert.notProperty(Photo.wire.fields.picture, "id")
    const stored = { ...file("secret"), at: new Date(0) }
    const photo = Schema.decodeUnknownSync(Photo)({
      id: "P1",
      title: "Eiger",
      picture: stored,
      pages: [stored],
      sides: []
    })
    assert.strictEqual(photo.picture?.id, "secret")
    for (const text of [JSON.stringify(photo), inspect(photo)]) {
      assert.notInclude(text, "secret")
    }
    expectTypeOf<Photo["pages"][number]>().toExtend<Model.StoredFile>()
  })

  it.effect("writes what is known of the file on the wire", () =>
    Effect.gen(function*() {
      const photo = new Photo({ id: "P1", title: "Eiger", picture: file("secret"), sides: [] })
      assert.deepInclude(JSON.parse(yield* Model.dumps(photo)), {
        picture: {
          _type: "StoredFile",
          key: "k1",
          name: "a.jpg",
          size: 3,
          type: "image/jpeg",
          sha256: "00",
          at: "1970-01-01T00:00:00.000000"
        },
        pages: []
      })
    }))

  it("says in the metadata and in the JSON schema what files may be", () => {
    const { pages, picture } = Model.metadata(Photo)
    assert.deepStrictEqual(picture?.file, { types: ["image/jpeg"], max_size: 10_000_000 })
    const image = { small: { width: 10 } }
    class Sized extends Model.Class<Sized>()("Sized", { scan: Model.file({ image }) }) {}
    assert.deepStrictEqual(Model.metadata(Sized)["scan"]?.file, { image })
    for (
      const [name, size] of [["a/b", { width: 1 }], ["a", {}], ["a", { width: 0 }], ["a", {
        width: 1,
        quality: 101
      }]] as const
    ) {
      assert.throws(() => Model.file({ image: { [name]: size } }), `The size "${name}" of a picture needs`)
    }
    assert.deepStrictEqual(pages?.file, { types: ["image/png", "image/jpeg"] })
    const { properties }: { readonly properties?: Record<string, Record<string, unknown>> } = Model.jsonSchema(Photo)
    assert.strictEqual(properties?.["picture"]?.["description"], "A file of image/jpeg")
    assert.strictEqual(properties?.["pages"]?.["description"], "A file of image/png or image/jpeg")
  })

  it("is found at every depth of a document, a model within itself included", () => {
    assert.deepStrictEqual(fileFieldsOf(Photo).map(({ isList, name }) => [name, isList]), [["picture", false], [
      "pages",
      true
    ]])
    class Plain extends Model.Class<Plain>()("Plain", { id: Model.id(), text: Schema.String }) {}
    assert.isUndefined(filesOf(Plain))
    const document = {
      picture: file("1"),
      pages: [file("2"), file("3")],
      back: { scan: file("4") },
      sides: [{ scan: file("5") }, { scan: null }, {}]
    }
    assert.deepStrictEqual(filesOf(Photo)?.(document).map(({ id }) => id), ["1", "2", "3", "4", "5"])
    const tree = { branches: [{ scan: file("1"), branches: [] }, { branches: [{ scan: file("2"), branches: [] }] }] }
    assert.deepStrictEqual(filesOf(Tree)?.(tree).map(({ id }) => id), ["1", "2"])
  })
})
