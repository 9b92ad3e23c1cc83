import { Anonymous, Resource, Role } from "appkernel"
import { Effect, Schema } from "effect"
import { Product } from "../models/Product.ts"

export const Products = Resource.make(Product, { methods: ["GET", "POST"] })
  .action(
    "get_summary",
    { summary: "The product in one line", success: Schema.String, anonymous: true },
    (product) =>
      Effect.succeed(
        `${product.name} (${product.code}): ${product.price.toFixed(2)} ${product.currency}, ${product.stock} in stock`
      )
  )
  .grant(Anonymous, { methods: ["GET", "get_summary"], hide: ["cost"] })
  .require(Role("admin"))
