import { KernelEngine, Translations } from "appkernel"
import { fileURLToPath } from "node:url"
import { Order } from "./models/Order.ts"
import { Product } from "./models/Product.ts"
import { User } from "./models/User.ts"

export const engine = KernelEngine.make("shop")
  .register(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Product, { methods: ["GET", "POST"], urlBase: "/api/v1" })
  .register(Order, { urlBase: "/api/v1" })

/** Labels and messages, in English unless a request prefers German. */
export const translations = Translations.layerWith({
  path: fileURLToPath(new URL("./translations", import.meta.url)),
  languages: ["en", "de"]
})
