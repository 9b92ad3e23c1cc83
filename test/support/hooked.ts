/** Resources whose hooks record their arguments, and act as the title of a task says. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import {
  Index,
  KernelApi,
  KernelEngine,
  Model,
  Repository,
  Resource,
  ServiceError,
  Validator
} from "../../src/index.ts"
import { implementedResource } from "./implemented.ts"

export class Refusal extends ServiceError<Refusal>()("Refusal", {
  status: 422,
  message: "The hook refuses",
  fields: { why: Schema.String }
}) {}

class Vetoed extends ServiceError<Vetoed>()("Vetoed", { status: 403 }) {}

/** Without a version. */
export class Task extends Model.Class<Task>()("Task", {
  id: Model.id({ prefix: "T" }),
  title: Schema.String.pipe(Validator.notEmpty),
  total: Schema.Int.pipe(Validator.max(1_000), Model.withDefault(() => 0)),
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional)
}) {}

export class Ticket extends Model.Class<Ticket>()("Ticket", {
  id: Model.id({ prefix: "K" }),
  title: Schema.String.pipe(Validator.notEmpty),
  ...Model.versioned
}) {}

export class Stock extends Model.Class<Stock>()("Stock", { id: Model.id(), left: Schema.Int }) {}

export class Sale extends Model.Class<Sale>()("Sale", {
  id: Model.id(),
  product: Schema.String,
  quantity: Schema.Int,
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional)
}) {}

/** A service that the hooks need, and that records their arguments. */
export class Journal extends Context.Service<Journal, {
  readonly note: (line: string) => Effect.Effect<void>
  /** The records since the previous call. */
  readonly lines: Effect.Effect<ReadonlyArray<string>>
}>()("test/Journal") {}

export const journal = Layer.sync(Journal, () => {
  let noted: Array<string> = []
  return {
    note: (line) => Effect.sync(() => void noted.push(line)),
    lines: Effect.sync(() => {
      const lines = noted
      noted = []
      return lines
    })
  }
})

const note = (line: string) => Effect.flatMap(Journal, (journal) => journal.note(line))

/** The records since the previous call. */
export const lines = Effect.flatMap(Journal, (journal) => journal.lines)

const titleOf = Option.match({ onNone: () => "none", onSome: ({ title }: { readonly title: string }) => title })

/** Records a hook's arguments. The title decides what the hook does. */
const told =
  (name: string) =>
  (task: Task, request: { readonly id: Option.Option<string>; readonly previous: Option.Option<Task> }) =>
    note(`${name} ${task.title} (${titleOf(request.previous)}, ${Option.isSome(request.id) ? "by id" : "no id"})`)

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const before = (name: string) => (task: Task, request: Parameters<ReturnType<typeof told>>[1]) =>
  Effect.gen(function*() {
    yield* told(name)(task, request)
    switch (task.title) {
      case "refuse":
        return yield* new Refusal({ why: name })
      case "lost":
        return yield* Effect.asVoid(Effect.flatMap(Repository.for(Stock), (stocks) => stocks.findById("elsewhere")))
      case "conflict":
        return yield* Effect.asVoid(
          Effect.flatMap(Repository.for(Ticket), (tickets) => tickets.patch("K-there", { title: "x", version: 99 }))
        )
      case "duplicate":
        return yield* Effect.asVoid(
          Effect.flatMap(Repository.for(Stock), (stocks) => stocks.insert(new Stock({ id: "S-there", left: 1 })))
        )
      case "die":
        return yield* Effect.die(new Error("the inside"))
      case "invalid":
        return new Task({ ...task, title: "", total: 2_000 }, { disableChecks: true })
      case "move":
        return new Task({ ...task, id: "T-elsewhere", title: "moved" })
      case "sum":
        return new Task({
          ...task,
          total: task.total + Option.match(request.previous, { onNone: () => 0, onSome: ({ total }) => total })
        })
      default:
        return undefined
    }
  })

const after = (name: string) => (task: Task, request: Parameters<ReturnType<typeof told>>[1]) =>
  Effect.andThen(
    told(name)(task, request),
    task.title === "fail after" ? Effect.fail(new Refusal({ why: name })) : Effect.void
  )

const errors = { error: [Refusal] } as const

const Tasks = Resource.make(Task, { methods })
  .beforeGet(({ id }) =>
    Effect.andThen(
      note(`beforeGet ${Option.getOrElse(id, () => "all")}`),
      Option.contains(id, "vetoed") ? Effect.fail(new Vetoed()) : Effect.void
    ), { error: [Vetoed] })
  .afterGet((task, { id }) =>
    Effect.andThen(
      note(`afterGet ${task.title} ${task.total} ${Option.isSome(id) ? "by id" : "of a page"}`),
      task.title === "hidden" ? Effect.fail(new Vetoed()) : Effect.void
    ), { error: [Vetoed] })
  .beforePost((task) =>
    task.title.startsWith("a:")
      ? Effect.succeed(new Task({ ...task, title: `${task.title}1` }))
      : Effect.void
  )
  .beforePost((task) =>
    Effect.succeed(task.title.startsWith("a:") ? new Task({ ...task, title: `${task.title}2` }) : task)
  )
  .beforePost(before("beforePost"), errors)
  .afterPost(after("afterPost"), errors)
  .afterPost((task) => note(`then ${task.title}`))
  .beforePut(before("beforePut"), errors)
  .afterPut(after("afterPut"), errors)
  .beforePatch(before("beforePatch"), errors)
  .afterPatch(after("afterPatch"), errors)
  .beforeDelete((task, request) =>
    Effect.gen(function*() {
      yield* told("beforeDelete")(task, request)
      if (task.title === "keep") return yield* new Refusal({ why: "beforeDelete" })
      return new Task({ ...task, id: "T-other", title: "" }, { disableChecks: true })
    }), errors)
  .afterDelete(after("afterDelete"), errors)

const Tickets = Resource.make(Ticket, { methods })
  .beforePut((ticket) => note(`put ${ticket.title}`))
  .beforePatch((ticket) =>
    Effect.as(note(`patch ${ticket.title}`), new Ticket({ ...ticket, title: `${ticket.title}!`, version: 77 }))
  )
  .beforeDelete((ticket) => note(`delete ${ticket.title}`))
  .afterPatch((ticket) => note(`patched ${ticket.title} ${ticket.version}`))

/** Takes the sold items from the stock, in one transaction with the sale. */
const Sales = Resource.make(Sale, { methods: ["GET", "POST", "PATCH"], transactional: true })
  .beforePost(({ product, quantity }) =>
    Effect.gen(function*() {
      const stocks = yield* Repository.for(Stock)
      const stock = yield* stocks.findById(product)
      yield* stocks.replace(new Stock({ ...stock, left: stock.left - quantity }))
      if (stock.left < quantity) return yield* new Refusal({ why: `${stock.left} left` })
      const sales = yield* Repository.for(Sale)
      const isSold = yield* sales.exists(($) => $.product.equals(product))
      if (product === "single" && isSold) return yield* new Refusal({ why: "sold already" })
    }), { error: [Refusal] })
  .afterPost(({ quantity }) => quantity === 3 ? Effect.fail(new Refusal({ why: "three" })) : Effect.void, {
    error: [Refusal]
  })
  .beforePatch(({ product }, { previous }) =>
    Effect.gen(function*() {
      const stocks = yield* Repository.for(Stock)
      yield* stocks.patch(product, { left: 1 })
      if (Option.isSome(previous) && previous.value.quantity === 1) return yield* new Refusal({ why: "one" })
    }), { error: [Refusal] })

export const engine = KernelEngine.make("hooks")
  .register(Tasks, { urlBase: "/api/v1" })
  .register(Tickets)
  .register(Stock)
  .register(Sales)

/** The same service, described apart from its implementation. */
export const apart: typeof engine = KernelEngine.fromApi(
  KernelApi.make("hooks")
    .register(Tasks.description, { urlBase: "/api/v1" })
    .register(Tickets.description)
    .register(Stock)
    .register(Sales.description),
  [implementedResource(Tasks), implementedResource(Tickets), implementedResource(Sales)]
)
