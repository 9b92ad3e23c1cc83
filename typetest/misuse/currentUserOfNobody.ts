/** The cause is `There may be no caller here: use CurrentUser.option in the place of CurrentUser`. */
import { Anonymous, CurrentUser, Service } from "appkernel"
import { Effect, Schema } from "effect"

export const Greetings = Service.make("GreetingService").operation(
  "greet",
  { success: Schema.String, require: Anonymous },
  () => Effect.map(CurrentUser, ({ subject }) => `Hello ${subject}`)
)
