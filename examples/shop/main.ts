import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Accounts, HttpClientFactory, Jwt, Monitoring, Role } from "appkernel"
import { Layer } from "effect"
import { administrator } from "./administrator.ts"
import { engine, translations } from "./engine.ts"
import { User } from "./models/User.ts"
import { paymentProvider } from "./payments.ts"
import { seed } from "./seed.ts"
import { store } from "./store.ts"
import { welcome } from "./welcome.ts"

const monitoring = Monitoring.layer({ require: Role("admin") })

welcome.pipe(
  Layer.provide(engine.layer),
  Layer.provide([Layer.provide(administrator, seed), translations, paymentProvider, monitoring]),
  Layer.provide([HttpClientFactory.layer, Jwt.layer, Accounts.fromModel(User, { login: "email", secret: "password" })]),
  Layer.provide([store, NodeServices.layer]),
  engine.launch,
  NodeRuntime.runMain
)
