/** To whom random grants are: everybody, those who are known, one of them, or whose document it is. */
import { Anonymous, Authenticated, CurrentSubject, Permission, Role } from "appkernel"
import { Effect, Option } from "effect"

export const grantees = {
  ann: Role("ann"),
  anybody: Authenticated,
  everybody: Anonymous,
  self: CurrentSubject,
  owner: Permission.make(
    "is the owner's",
    {},
    ({ caller, document }) =>
      Effect.map(
        document,
        (document) => Reflect.get(Object(Option.getOrUndefined(document)), "owner") === caller.subject
      )
  )
} as const
