/**
 * BSON's identifiers: hexadecimal text in the program and on the wire, ObjectIds in the store.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Bson from "../shape/bsonKinds.ts"

/**
 * An ObjectId: 24 lowercase hexadecimal digits in the program and on the wire, and BSON's ObjectId in the store. URLs
 * and bodies may have uppercase letters.
 *
 * **Example** (The identifiers of a collection that another program writes)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Generator, Model } from "appkernel"
 *
 * class Parcel extends Model.Class<Parcel>()("Parcel", {
 *   id: Model.ObjectId.pipe(Model.generated(Generator.objectId))
 * }) {}
 *
 * const parcel = await Effect.runPromise(Model.finalise(Parcel, {}))
 * parcel.id.length // => 24
 * ```
 *
 * @category schemas
 * @since 0.1.0
 */
export const ObjectId: ObjectId = Bson.objectId.pipe(
  Schema.decodeTo(Schema.String.check(Schema.isPattern(/^[\da-f]{24}$/u, { expected: "an ObjectId" })), {
    decode: SchemaGetter.transform(String),
    encode: SchemaGetter.transform((hex): unknown => new Bson.ObjectIdText(hex))
  })
)

/**
 * The schema of {@link ObjectId}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ObjectId extends Schema.decodeTo<Schema.String, Schema.declare<unknown>> {
  readonly "Rebuild": ObjectId
}
