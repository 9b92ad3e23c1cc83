import { Authenticated, Model, Repository, Role, Service, Validator } from "appkernel"
import { Effect, Schema } from "effect"
import { User } from "../models/User.ts"
import { UserV2 } from "../models/UserV2.ts"

const viewOf = ({ email, id, name, password, roles }: User) =>
  new UserV2({ id, full_name: name, email, password, roles })

/** Version 2 of the users: another view of the documents that version 1 shows, to the same callers. */
export const UsersV2 = Service.make("UserService")
  .operation("list", {
    path: "./",
    query: {
      page: Schema.Int.pipe(Validator.min(1), Schema.optionalKey),
      page_size: Schema.Int.pipe(Validator.min(1), Validator.max(100), Schema.optionalKey)
    },
    success: Schema.Array(UserV2),
    require: Authenticated
  }, ({ query }) =>
    Effect.gen(function*() {
      const users = yield* Repository.for(User)
      const page = yield* users.find(undefined, {
        sort: "name",
        page: query.page ?? 1,
        pageSize: query.page_size ?? 50
      })
      return page.map(viewOf)
    }))
  .operation(
    "get",
    { path: "./{user_id}", params: { user_id: User.wire.fields.id }, success: UserV2, require: Authenticated },
    ({ params }) =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        return viewOf(yield* users.findById(params.user_id))
      })
  )
  .operation(
    "create",
    { method: "POST", path: "./", payload: UserV2, success: UserV2, require: Role("admin") },
    ({ payload: { email, full_name: name, id, password, roles } }) =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        return viewOf(yield* users.insert(yield* Model.finalise(User, { id, name, email, password, roles })))
      })
  )
