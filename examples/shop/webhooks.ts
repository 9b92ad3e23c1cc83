import { Authenticated, Resource, Role, Webhooks } from "appkernel"
import { Schema } from "effect"

/** Where everybody is told of the orders that they may read. */
export const Subscriptions = Resource.make(Webhooks.Subscription, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .grant(Authenticated, { rows: (me) => ($) => $.owner.equals(me.subject) })
  .require(Role("admin"))
  .action("rotate", { method: "POST", success: Schema.String, require: Authenticated }, ({ id }) => Webhooks.rotate(id))

/** What has become of it. */
export const Deliveries = Resource.make(Webhooks.Delivery, { methods: ["GET"] })
  .grant(Authenticated, { methods: ["GET"], rows: (me) => ($) => $.owner.equals(me.subject) })
  .action(
    "send_again",
    { method: "POST", success: Schema.Boolean, require: Authenticated },
    ({ id }) => Webhooks.sendAgain(id)
  )
