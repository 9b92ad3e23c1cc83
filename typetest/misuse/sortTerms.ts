/** What the compiler says of orders that no repository takes: each message names the term or the option. */
import { Schema } from "effect"
import { Model, type Repository } from "../../src/index.ts"

class Address extends Model.Class<Address>()("Address", { city: Schema.String }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id(),
  name: Schema.String,
  roles: Schema.Array(Schema.String),
  address: Address.pipe(Model.optional)
}) {}

declare const users: Repository.Repository<typeof User>

void users.find(undefined, { sort: "nmae" })
void users.find(undefined, { sort: ["name", "-adress.city"] })
void users.findPage(undefined, { sort: "roles", pageSize: 20 })
void users.findOneAndUpdate(undefined, () => [], { sort: "-address" })
void users.find(undefined, { sortBy: "name" })
