// A lending library, which docs/tutorial explains: `node --conditions=source examples/tutorial/main.ts` starts it.
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Jwt } from "appkernel"
import { Config, Effect, Layer } from "effect"
import { HttpStaticServer } from "effect/http"
import { engine } from "./engine.ts"
import { librarian } from "./librarian.ts"
import { accounts } from "./Members.ts"
import { store } from "./store.ts"

/** The folder with the page for browsers: ./public, unless LIBRARY_PAGE is another one. */
const page = Config.String("page").pipe(
  Config.nested("library"),
  Config.withDefault("public"),
  Effect.map((root) => HttpStaticServer.layer({ root })),
  Layer.unwrap,
  Layer.orDie
)

engine.use(page).layer.pipe(
  Layer.provide([Jwt.layer, accounts, librarian]),
  Layer.provide([store, NodeHttpPlatform.layer, NodeServices.layer]),
  engine.launch,
  NodeRuntime.runMain
)
