import { type Envelope, type HttpError, Model, type Resource } from "appkernel"
import { Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import type * as Documents from "../src/Http/description/documents.ts"
import type { ListQuery } from "../src/Http/description/requests.ts"
import type { standardEndpoints } from "../src/Http/description/standardEndpoints.ts"

class Room extends Model.Class<Room>()("Room", {
  id: Model.id(),
  name: Schema.String,
  count: Schema.Int,
  secret: Schema.String.pipe(Model.omitted)
}) {}

// Clients have the changes as streams, and ask by a body themselves.
type Table = Omit<typeof standardEndpoints, "changes" | "query">

type Brought<By> = { [N in keyof Table]: Table[N]["broughtBy"] extends By ? N : never }[keyof Table]

type Many = Resource.Endpoint.ManyByMethod<typeof Room, Resource.Endpoint.ByMethod.NoErrors>

type ByMethod = Resource.Endpoint.ByMethod<typeof Room, Resource.Endpoint.ByMethod.NoErrors>

describe("the interfaces of the standard endpoints", () => {
  it("are those of the table, by the methods that bring them", () => {
    expectTypeOf<ByMethod["GET"]["identifier"]>().toEqualTypeOf<Brought<"GET">>()
    expectTypeOf<ByMethod["POST"]["identifier"]>().toEqualTypeOf<Brought<"POST">>()
    expectTypeOf<(ByMethod["PUT"] | Many["PUT"])["identifier"]>().toEqualTypeOf<Brought<"PUT">>()
    expectTypeOf<(ByMethod["PATCH"] | Many["PATCH"])["identifier"]>().toEqualTypeOf<Brought<"PATCH">>()
    expectTypeOf<(ByMethod["DELETE"] | Many["DELETE"])["identifier"]>().toEqualTypeOf<Brought<"DELETE">>()
    expectTypeOf<(Resource.Endpoint.JsonSchema | Resource.Endpoint.Meta<typeof Room>)["identifier"]>().toEqualTypeOf<
      Brought<"any">
    >()
  })

  it("have the methods and the paths of their rows", () => {
    type All =
      | ByMethod[Resource.Endpoint.Method]
      | Many[Resource.Endpoint.ManyMethod]
      | Resource.Endpoint.JsonSchema
      | Resource.Endpoint.Meta<typeof Room>
    type Places = { readonly [N in keyof Table]: `${Table[N]["method"]} ${Table[N]["path"]}` }
    type Own = { readonly [E in All as E["identifier"]]: `${E["method"]} ${E["path"]}` }
    expectTypeOf<Own>().toEqualTypeOf<Places>()
  })

  it("take what the values of their rows describe", () => {
    type Row<F extends (model: typeof Room) => unknown> = ReturnType<F>
    expectTypeOf<Resource.Endpoint.List<typeof Room>["~Query"]>().toEqualTypeOf<ListQuery<typeof Room>>()
    expectTypeOf<Resource.Endpoint.Create<typeof Room>["~Payload"]>().toEqualTypeOf<
      Row<typeof standardEndpoints.create.payload<typeof Room>>[number]
    >()
    expectTypeOf<Resource.Endpoint.Replace<typeof Room>["~Payload"]>().toEqualTypeOf<(typeof Room)["create"]>()
    expectTypeOf<Resource.Endpoint.Patch<typeof Room>["~Payload"]>().toEqualTypeOf<(typeof Room)["patch"]>()
    expectTypeOf<Resource.Endpoint.Get<typeof Room>["~Params"]>().toEqualTypeOf<Documents.ById<typeof Room>>()
    expectTypeOf<Resource.Endpoint.List<typeof Room>["~Params"]>().toBeNever()
    expectTypeOf<Resource.Endpoint.Meta<typeof Room>["~Query"]>().toBeNever()
    expectTypeOf<Resource.Endpoint.Delete<typeof Room>["~Payload"]>().toBeNever()
    expectTypeOf<Resource.Endpoint.Aggregate["~Query"]["Type"]>().toEqualTypeOf<{ readonly pipe: string }>()
    expectTypeOf<Resource.Endpoint.JsonSchema["~Query"]["Type"]>().toEqualTypeOf<{
      readonly mongo?: "true" | "false"
      readonly additional_properties?: "true" | "false"
    }>()
    expectTypeOf<Resource.Endpoint.Get<typeof Room>["~Query"]["Type"]>().toEqualTypeOf<{
      readonly fields?: string
      readonly expand?: string
    }>()
    type Query = ListQuery<typeof Room>["Type"]
    expectTypeOf<Query["page"]>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Query["sort_order"]>().toEqualTypeOf<"ASC" | "DESC" | undefined>()
    // The field goes before the parameter of its name.
    expectTypeOf<Query["count"]>().toEqualTypeOf<string | ReadonlyArray<string> | undefined>()
    expectTypeOf<keyof Resource.Endpoint.Get<typeof Room>["~Headers"]["Type"]>().toEqualTypeOf<
      "if-match" | "if-none-match"
    >()
    expectTypeOf<keyof Resource.Endpoint.Patch<typeof Room>["~Headers"]["Type"]>().toEqualTypeOf<
      "if-match" | "if-none-match" | "prefer"
    >()
  })

  it("give what the values of their rows describe", () => {
    expectTypeOf<Resource.Endpoint.Get<typeof Room>["~Success"]>().toEqualTypeOf<
      Documents.Representation<typeof Room> | Documents.Selection<typeof Room>
    >()
    expectTypeOf<Resource.Endpoint.Delete<typeof Room>["~Success"]>().toEqualTypeOf<typeof Envelope.OperationCount>()
    type Always =
      | HttpError.NotAcceptable
      | HttpError.NotImplemented
      | HttpError.ServiceUnavailable
      | HttpError.InternalServerError
    expectTypeOf<Resource.Endpoint.Aggregate["~Error"]["Type"]>().toEqualTypeOf<
      HttpError.BadRequest | HttpError.Forbidden | Always
    >()
    expectTypeOf<Resource.Endpoint.Meta<typeof Room>["~Error"]["Type"]>().toEqualTypeOf<
      HttpError.BadRequest | HttpError.NotAcceptable
    >()
  })
})
