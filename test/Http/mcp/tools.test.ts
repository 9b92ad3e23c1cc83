/** What has tools, as it is seen at the start and as the document says. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { hasToolsPlainly, toolsNamed, toolsOf } from "../../../src/Http/mcp/tools.ts"
import { History, KernelApi, KernelEngine, Model, OpenApi, Raw, Resource, Service } from "../../../src/index.ts"
import { Photo } from "../../support/filesModel.ts"

class Order extends Model.Class<Order>()("Order", { id: Model.id() }, { logged: true }) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), ...Model.softDeleted }) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const Orders = Resource.describe(Order, { methods })
  .action("cancel", { method: "POST", payload: { reason: Schema.String }, success: Order })
  .action("pictured", { method: "POST", payload: Raw.request({ contentType: "image/png" }) })

const Prints = Service.describe("Prints")
  .operation("print", { path: "./print", success: Raw.response({ contentType: "text/plain" }) })
  .operation("text", { method: "POST", path: "./text", payload: Schema.String.pipe(HttpApiSchema.asText()) })

const api = KernelApi.make("shop")
  .register(Orders, { many: ["PUT", "PATCH", "DELETE"], tables: true })
  .register(Photo, { methods, files: { resumable: true } })
  .register(Prints)

const { registrations } = api

describe("The tools of an MCP server", () => {
  it("are plainly there for those names that have some in the document, but for the operations of files", () => {
    const document = OpenApi.make(api, { title: "Shop", version: "1" })
    const all = toolsOf(document)
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId)
    )
    const ofFiles = ids.filter((id) => /_(?:picture|pages)_/u.test(id))
    assert.isNotEmpty(ofFiles)
    const names = [
      ...ids.filter((id) => !ofFiles.includes(id)),
      "orders",
      "prints",
      "orders.none",
      "none"
    ]
    for (const name of names) {
      assert.strictEqual(hasToolsPlainly(registrations, [name]), toolsNamed(all, name).length > 0, name)
    }
    assert.isFalse(hasToolsPlainly(registrations, ofFiles))
    assert.isFalse(hasToolsPlainly(registrations, ["photos"]))
    assert.isFalse(hasToolsPlainly(registrations, ["orders.list", "prints.print"]))
  })

  it("are there for the files of a registration, without those that come in resumable uploads", () => {
    const names = toolsNamed(toolsOf(OpenApi.make(api, { title: "Shop", version: "1" })), "photos")
    assert.deepStrictEqual(names.map(({ name }) => name).filter((name) => /picture|pages/u.test(name)), [
      "photos_patch_picture_delete",
      "photos_get_picture_address",
      "photos_patch_pages_delete",
      "photos_get_pages_address"
    ])
  })

  it("are not there for what is a parameter of a standard endpoint", () => {
    const engine = KernelEngine.make("notes").register(
      Resource.make(Note, { methods }).action(History.deleted(Note)).action(History.purge(Note))
    )
    const all = toolsOf(OpenApi.make(engine, { title: "Notes", version: "1" }))
    for (const name of ["notes", "notes.delete", "notes.deleted", "notes.purge"]) {
      assert.strictEqual(hasToolsPlainly(engine.registrations, [name]), toolsNamed(all, name).length > 0, name)
    }
    assert.isFalse(hasToolsPlainly(engine.registrations, ["notes.purge"]))
  })

  it("are not plainly there where two may have one name", () => {
    const [first, second] = KernelApi.make("shop")
      .register(Orders)
      .register(Orders, { segment: "old", name: "orders_old" })
      .registrations
    assert.isTrue(hasToolsPlainly([first!], ["orders"]))
    assert.isTrue(hasToolsPlainly([second!], ["orders_old"]))
    assert.isFalse(hasToolsPlainly([first!, second!], ["orders"]))
  })
})
