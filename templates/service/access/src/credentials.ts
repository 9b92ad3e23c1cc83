import { Jwt } from "appkernel"
import { Layer } from "effect"
import { accounts } from "./Users.ts"

/** How callers prove who they are: tokens, and names with passwords. `appkernel openapi` reads it, too. */
export const credentials = Layer.merge(Jwt.layer, accounts)
