// Invoices with what is no JSON: a table for a spreadsheet, scans that are uploaded, and payments that another service reports.
// `WEBHOOK_SECRET=secret node --conditions=source examples/invoices.ts`, then
// curl -H 'content-type: application/json' 127.0.0.1:5000/invoices -d '{"customer": "ACME, Inc.", "cents": 1200}'
// curl 127.0.0.1:5000/invoices.csv
// curl -F scan=@paper.pdf 127.0.0.1:5000/invoices/I-…/scan
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import {
  EmbeddedStore,
  HttpError,
  KernelEngine,
  Model,
  Raw,
  Repository,
  Resource,
  Service,
  ServiceError
} from "appkernel"
import { Config, Effect, FileSystem, Layer, Redacted, Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse, Multipart } from "effect/http"
import { createHmac, hash, timingSafeEqual } from "node:crypto"

class Invoice extends Model.Class<Invoice>()("Invoice", {
  id: Model.id({ prefix: "I" }),
  customer: Schema.String,
  cents: Schema.Int,
  paid: Schema.Int.pipe(Model.withDefault(() => 0)),
  /** The size of its scan in bytes. */
  scanned: Schema.Int.pipe(Model.optional, Model.readOnly)
}) {}

/** What the service that takes payments reports: of a payment it may do so several times. */
class Payment extends Model.Class<Payment>()("Payment", {
  id: Schema.String,
  invoice: Schema.String,
  cents: Schema.Int
}) {}

class WrongSignature extends ServiceError<WrongSignature>()("WrongSignature", {
  status: 401,
  message: "The signature is not that of the body"
}) {}

const folder = Config.String("SCANS").pipe(Config.withDefault("scans"))

/**
 * A file has its name when it is complete; what was begun for a client that is gone is removed. The name is a digest, since a client may
 * choose an identifier such as "../cfg".
 */
const save = Effect.fn("save")(function*(id: string, content: Stream.Stream<Uint8Array, Multipart.MultipartError>) {
  const fs = yield* FileSystem.FileSystem
  const name = hash("sha256", id)
  const path = yield* folder
  yield* fs.makeDirectory(path, { recursive: true })
  const begun = `${yield* fs.makeTempDirectoryScoped({ directory: path })}/${name}`
  yield* Stream.run(content, fs.sink(begun))
  const { size } = yield* fs.stat(begun)
  yield* fs.rename(begun, `${path}/${name}`)
  return Number(size)
}, Effect.scoped)

const Invoices = Resource.make(Invoice, { methods: ["GET", "POST"] })
  .action(
    "scan",
    {
      payload: Raw.request({ contentType: "multipart/form-data", maxSize: "20 MB", parts: { scan: Raw.file } }),
      success: Invoice
    },
    (invoice, { payload }) =>
      Effect.gen(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const files = payload.pipe(
          Stream.pipeThroughChannel(Multipart.makeChannel(headers)),
          Stream.filter(Multipart.isFile),
          Stream.mapEffect((file) => save(invoice.id, file.content)),
          Stream.runCollect
        )
        const [scanned] = yield* files
        if (scanned === undefined) return yield* new HttpError.BadRequest({ message: "There is no file", errors: [] })
        return yield* (yield* Repository.for(Invoice)).patch(invoice.id, { scanned })
      }).pipe(Effect.catchTags({ PlatformError: Effect.die, ConfigError: Effect.die }))
  )

/** A text that a spreadsheet would evaluate gets an apostrophe. */
const cellOf = (value: string | number) => {
  const text = typeof value === "string" ? value.replace(/^[=+\-@\t\r]/u, "'$&") : String(value)
  return `"${text.replaceAll("\"", "\"\"")}"`
}

const Exchange = Service.make("exchange")
  .operation(
    "table",
    { path: "/invoices.csv", success: Raw.response({ contentType: "text/csv" }), summary: "All invoices, as a table" },
    () =>
      Effect.gen(function*() {
        const invoices = yield* Repository.for(Invoice)
        const lines = Stream.map(
          invoices.stream(undefined, { sort: "id" }),
          ({ cents, customer, id, paid }) => [id, customer, cents, paid].map(cellOf).join(",")
        )
        const table = Stream.concat(Stream.succeed("id,customer,cents,paid"), lines)
        return HttpServerResponse.stream(
          table.pipe(Stream.map((line) => `${line}\r\n`), Stream.encodeText),
          { contentType: "text/csv; charset=utf-8" }
        )
      })
  )
  .operation(
    "report",
    {
      path: "/payments",
      payload: Raw.request({ contentType: "application/json" }),
      error: WrongSignature,
      summary: "Reports a payment"
    },
    ({ payload }) =>
      Effect.gen(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const secret = yield* Config.Redacted("WEBHOOK_SECRET")
        const bytes = Buffer.concat(yield* Stream.runCollect(payload))
        const expected = createHmac("sha256", Redacted.value(secret)).update(bytes).digest()
        const sent = Buffer.from(headers["x-signature"] ?? "", "hex")
        if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return yield* new WrongSignature()
        const payment = yield* Schema.decodeEffect(Schema.fromJsonString(Payment))(bytes.toString())
        const payments = yield* Repository.for(Payment)
        const invoices = yield* Repository.for(Invoice)
        yield* Repository.transaction(Effect.gen(function*() {
          yield* payments.insert(payment)
          const { matchedCount } = yield* invoices.updateOne(
            ($) => $.id.equals(payment.invoice),
            ($) => [$.paid.increment(payment.cents)]
          )
          if (matchedCount === 0) {
            return yield* new HttpError.BadRequest({ message: "There is no such invoice", errors: [] })
          }
        })).pipe(
          // It is known already.
          Effect.catchTag("DuplicateKey", () => Effect.void)
        )
      }).pipe(Effect.catchTags({
        ConfigError: Effect.die,
        SchemaError: () => new HttpError.BadRequest({ message: "This is no payment", errors: [] })
      }))
  )

const engine = KernelEngine.make("invoices")
  .register(Invoices)
  .register(Payment, { methods: [] })
  .register(Exchange)
  .enableOpenApi({ title: "Invoices", version: "1.0.0" })

engine.layer.pipe(
  Layer.provide([EmbeddedStore.layer, NodeServices.layer]),
  engine.launch,
  NodeRuntime.runMain
)
