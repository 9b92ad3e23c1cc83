/** What the compiler says of registrations that are wrong, in the words of expected.txt: each names the wrong word. */
import { Effect, Schema } from "effect"
import { KernelEngine, Model, Resource, Service } from "../../src/index.ts"

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String }) {}

class Hooked extends Model.Class<Hooked>()("Hooked", { id: Model.id() }) {
  static readonly hooks = { beforePost: () => Effect.void }
}

class HookedByName extends Model.Class<HookedByName>()("HookedByName", { id: Model.id() }) {
  static readonly beforePost = () => Effect.void
}

const engine = KernelEngine.make("misuse")

void engine.register(User, { methods: ["GETT"] })
void engine.register(User, { methods: ["GET"], urlBsae: "/api" })
void engine.register(Resource.make(User), { urlBsae: "/api" })
void engine.register(Resource.make(User), { methods: ["POST"] })
void engine.register(Service.make("PaymentService"), { urlBsae: "/api" })
void engine.register("User")
void Resource.make(User, { methods: ["GETT"] })
void Resource.make(User, { methds: ["GET"] })

void engine.register(User, { methods: ["POST"], hooks: { beforePosst: () => Effect.void } })
void engine.register(Hooked)
void Resource.make(Hooked)
void engine.register(HookedByName)
void engine.register(User, { methods: ["POST"], transactional: true })
void Resource.make(User, { methods: ["POST"] }).beforePosst(() => Effect.void)
void Resource.make(User).beforePost(() => Effect.void)
void Resource.make(User, { methods: ["GET", "POST"] }).afterDelete(() => Effect.void)
