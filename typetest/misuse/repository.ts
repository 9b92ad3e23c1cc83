/** What the compiler says of a repository that is used wrongly: each message names the field or the identifier. */
import { Schema } from "effect"
import { Model, type Repository } from "../../src/index.ts"

class Address extends Model.Class<Address>()("Address", { city: Schema.String }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ brand: "UserId" }),
  name: Schema.String,
  roles: Schema.Array(Schema.String),
  address: Address.pipe(Model.optional)
}) {}

class Order extends Model.Class<Order>()("Order", { id: Model.id({ brand: "OrderId" }) }) {}

declare const users: Repository.Repository<typeof User>

void users.find(undefined, { sort: "nmae" })
void users.find(undefined, { sort: ["name", "-adress.city"] })
void users.findPage(undefined, { sort: "roles", pageSize: 20 })
void users.findOneAndUpdate(undefined, () => [], { sort: "-address" })
void users.find(undefined, { sortBy: "name" })
void users.find(($) => $.nmae.equals("Jane"))

declare const order: Order

void users.findById(order.id)
void users.patch(order.id, { name: "Jane" })
void users.deleteById(order.id)
