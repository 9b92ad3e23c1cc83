import { KernelEngine, Role, Tokens, Translations } from "appkernel"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { fileURLToPath } from "node:url"
import { closeDay, Jobs, sending } from "./receipts.ts"
import { Orders } from "./resources/Orders.ts"
import { Products } from "./resources/Products.ts"
import { Users } from "./resources/Users.ts"
import { Payments } from "./services/PaymentService.ts"
import { UsersV2 } from "./services/UserServiceV2.ts"
import { stock } from "./stock.ts"
import { Deliveries, Subscriptions } from "./webhooks.ts"

// The engine is a value that tests and clients import, so it is made before any configuration is read.
// @effect-diagnostics-next-line processEnv:off
export const engine = KernelEngine.make("shop", { development: process.env["NODE_ENV"] !== "production" })
  .register(Users, { urlBase: "/api/v1" })
  // A client may keep products, and asks each time whether they are still the same.
  .register(Products, { urlBase: "/api/v1", cacheControl: "no-cache", pageTags: true })
  .register(Orders, { urlBase: "/api/v1", priority: "high" })
  .register(Payments, { urlBase: "/api/v1" })
  .register(UsersV2, { urlBase: "/api/v2", name: "users_v2", tags: ["users, version 2"] })
  .register(Tokens.service, { urlBase: "/api/v1" })
  .register(Jobs, { urlBase: "/api/v1", segment: "jobs", name: "jobs" })
  .register(sending)
  .register(Subscriptions, { urlBase: "/api/v1", segment: "subscriptions", name: "subscriptions" })
  .register(Deliveries, { urlBase: "/api/v1", segment: "deliveries", name: "deliveries" })
  .enableCron("close-day", "0 0 * * *", closeDay, { zone: "Europe/Zurich" })
  .enableWebhooks({ "order.created": Orders })
  .enableSecurity()
  .use(HttpRouter.add("GET", "/", HttpServerResponse.redirect("/docs")))
  .use(stock)
  .enableOpenApi({ title: "Shop", version: "1.0.0" })
  // An assistant looks up the stock and orders, and orders in the name of its user.
  .enableMcp({ expose: ["products.list", "products.get", "orders"] })
  // Whoever works here looks at the documents, and changes what they may.
  .enableExplorer({ require: Role("admin") })

/** Labels and messages, in English unless a request prefers German. */
export const translations = Translations.layerWith({
  path: fileURLToPath(new URL("./translations", import.meta.url)),
  languages: ["en", "de"]
})
