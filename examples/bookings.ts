// Meeting rooms and who has them when: `node --conditions=source examples/bookings.ts`, then
// curl -H 'content-type: application/json' 127.0.0.1:5000/api/v1/rooms -d '{"name": "Jungfrau", "seats": 8}'
// and a browser at http://127.0.0.1:5000/docs
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Index, KernelEngine, Model, Repository, Resource, ServiceError, Validator } from "appkernel"
import { DateTime, Effect, Layer, Option, Schema } from "effect"

class Room extends Model.Class<Room>()("Room", {
  id: Model.id({ prefix: "R" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  seats: Schema.Int.pipe(Validator.min(1), Validator.max(500)),
  times_booked: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

class Booking extends Model.Class<Booking>()("Booking", {
  id: Model.id({ prefix: "B" }),
  room: Schema.String.pipe(Validator.notEmpty),
  title: Schema.String.pipe(Validator.notEmpty, Validator.max(120)),
  from: Model.DateTime,
  to: Model.DateTime,
  ...Model.versioned,
  ...Model.audited,
  ...Model.softDeleted
}, {
  indexes: [Index.compound({ room: 1, from: 1 })],
  validators: [
    Validator.related("After", "to", ({ from, to }) => DateTime.isGreaterThan(to, from), {
      message: "must be after from"
    })
  ]
}) {}

class RoomTaken extends ServiceError<RoomTaken>()("RoomTaken", {
  status: 409,
  message: "The room is taken at that time",
  fields: { booking: Schema.String }
}) {}

class AlreadyBegun extends ServiceError<AlreadyBegun>()("AlreadyBegun", {
  status: 409,
  message: "What has begun can't be cancelled"
}) {}

/** Bookings of one room all write to it, so that of two at the same time one sees the other. */
const take = Effect.fn("take")(function*({ from, id, room, to }: Booking) {
  const rooms = yield* Repository.for(Room)
  const { matchedCount } = yield* rooms.updateOne(($) => $.id.equals(room), ($) => [$.times_booked.increment(1)])
  if (matchedCount === 0) yield* rooms.findById(room)
  const bookings = yield* Repository.for(Booking)
  const other = yield* bookings.findOne(($) =>
    $.room.equals(room).and($.from.before(to)).and($.to.after(from)).and($.id.notEquals(id))
  )
  if (Option.isSome(other)) return yield* new RoomTaken({ booking: other.value.id })
})

/** A hook and the write that it stands before are one transaction. */
const Bookings = Resource.make(Booking, { methods: ["GET", "POST", "DELETE"], transactional: true })
  .beforePost((booking) => take(booking), { error: [RoomTaken] })
  .afterPost((booking) => Effect.logInfo("A room is booked", { room: booking.room, booking: booking.id }))
  .beforeDelete((booking) =>
    Effect.gen(function*() {
      if (DateTime.isLessThan(booking.from, yield* DateTime.now)) return yield* new AlreadyBegun()
    }), { error: [AlreadyBegun] })
  .action("reschedule", {
    summary: "Move a booking to another time",
    payload: { from: Model.DateTime, to: Model.DateTime },
    success: Booking,
    error: RoomTaken
  }, (booking, { payload: { from, to } }) =>
    Repository.transaction(Effect.gen(function*() {
      const bookings = yield* Repository.for(Booking)
      const moved = yield* bookings.patch(booking.id, { from, to, version: booking.version })
      yield* take(moved)
      return moved
    })))

const engine = KernelEngine.make("bookings")
  .register(Room, { methods: ["GET", "POST"], urlBase: "/api/v1" })
  .register(Bookings, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "Bookings", version: "1.0.0" })

engine.layer.pipe(
  Layer.provide(EmbeddedStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
