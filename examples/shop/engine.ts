import { KernelEngine } from "appkernel"
import { Order } from "./models/Order.ts"
import { Product } from "./models/Product.ts"
import { User } from "./models/User.ts"

export const engine = KernelEngine.make("shop")
  .register(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Product, { methods: ["GET", "POST"], urlBase: "/api/v1" })
  .register(Order, { urlBase: "/api/v1" })
