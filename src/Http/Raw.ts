/**
 * Bodies that are no JSON: files, texts of any format, and whatever is signed or parsed as it was sent. They are parts of
 * operations and actions as schemas are, so permissions, errors, rules for rows, the log and the documentation are the same.
 *
 * **Example** (A table for a spreadsheet)
 *
 * ```ts
 * import { Effect, Schema, Stream } from "effect"
 * import { HttpServerResponse } from "effect/http"
 * import { Model, Raw, Repository, Service } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), total: Schema.Int }) {}
 *
 * const Reports = Service.make("reports").operation(
 *   "orders",
 *   { path: "./orders.csv", success: Raw.response({ contentType: "text/csv" }) },
 *   () =>
 *     Effect.gen(function*() {
 *       const orders = yield* Repository.for(Order)
 *       const lines = orders.stream().pipe(Stream.map(({ id, total }) => `${id},${total}\r\n`))
 *       return HttpServerResponse.stream(Stream.encodeText(lines), { contentType: "text/csv" })
 *     })
 * )
 * ```
 *
 * @since 0.1.0
 */
export { type Bytes, file, type Request, request, type Response, response } from "./description/raw.ts"
