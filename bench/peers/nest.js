/** The service on NestJS with Fastify, with class-validator as its documentation recommends. Decorators are called by hand. */
import "reflect-metadata"
import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Module,
  NotFoundException,
  Param,
  Patch,
  Post,
  Query,
  Res,
  ValidationPipe
} from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { FastifyAdapter } from "@nestjs/platform-fastify"
import { Type } from "class-transformer"
import * as v from "class-validator"
import { filterParameters, root, toError, toItem, toPage, toResult } from "../answers.ts"
import { create } from "../data.ts"
import * as Products from "../servers/products.ts"

const decorate = (target, name, ...decorators) => {
  for (const decorator of decorators) decorator(target.prototype, name)
}
/** Declares the types of parameters, as the compiler does for decorators. */
const handler = (target, name, method, types, ...parameters) => {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name)
  Reflect.defineMetadata("design:paramtypes", types, target.prototype, name)
  parameters.forEach((parameter, index) => parameter(target.prototype, name, index))
  method(target.prototype, name, descriptor)
}

const typed = (Target, name, type) => Reflect.defineMetadata("design:type", type, Target.prototype, name)

class Dimensions {}
for (const name of ["width", "height", "depth"]) decorate(Dimensions, name, v.IsNumber(), v.Min(0))

/** The rules of a product; those of a change leave out what is missing. */
const rules = (Target, ...first) => {
  decorate(Target, "code", ...first, v.IsString(), v.IsNotEmpty())
  decorate(Target, "name", ...first, v.IsString(), v.IsNotEmpty())
  decorate(Target, "description", v.IsOptional(), v.IsString())
  decorate(Target, "price", ...first, v.IsNumber(), v.Min(0))
  decorate(Target, "currency", ...first, v.IsIn(["EUR", "CHF", "USD"]))
  decorate(Target, "stock", ...first, v.IsInt(), v.Min(0))
  decorate(Target, "tags", v.IsOptional(), v.IsArray(), v.IsString({ each: true }))
  decorate(Target, "dimensions", v.IsOptional(), v.ValidateNested(), Type(() => Dimensions))
}

class NewProduct {}
rules(NewProduct)

class Change {}
rules(Change, v.IsOptional())

class Paging {
  page = 1
  page_size = 50
}
for (const name of ["page", "page_size"]) {
  typed(Paging, name, Number)
  decorate(Paging, name, v.IsOptional(), Type(() => Number), v.IsInt(), v.Min(1), v.Max(name === "page" ? 1e9 : 1000))
}
decorate(Paging, "currency", v.IsOptional(), v.IsIn(["EUR", "CHF", "USD"]))
decorate(Paging, "price", v.IsOptional(), v.Matches(/^>\d+$/))
decorate(Paging, "sort_by", v.IsOptional(), v.IsIn(["price"]))

const missing = (id) => new NotFoundException(toError(404, `There is no product ${id}`))

class ProductsController {
  read(id) {
    const product = Products.get(id)
    if (product === undefined) throw missing(id)
    return toItem(product)
  }

  list({ currency, page, page_size: pageSize, price = "", sort_by: sortBy = "" }) {
    if (currency === undefined) return toPage(Products.list(page, pageSize), page, pageSize, Products.total())
    const above = Number(price.slice(1))
    const { items, total } = Products.filtered(currency, above, page, pageSize)
    return toPage(items, page, pageSize, total, filterParameters(currency, above, sortBy))
  }

  create(body, response) {
    const product = create(body)
    Products.add(product)
    response.header("location", `${root}/${product.id}`)
    return toResult(product.id)
  }

  change(id, body) {
    if (!Products.change(id, body)) throw missing(id)
    return toResult(id)
  }
}
handler(ProductsController, "read", Get(":id"), [String], Param("id"))
handler(ProductsController, "list", Get(), [Paging], Query())
handler(ProductsController, "create", Post(), [NewProduct, Object], Body(), Res({ passthrough: true }))
handler(ProductsController, "change", Patch(":id"), [String, Change], Param("id"), Body())
Controller(root)(ProductsController)

class App {}
Module({ controllers: [ProductsController] })(App)

const app = await NestFactory.create(App, new FastifyAdapter(), { logger: false })
app.useGlobalPipes(
  new ValidationPipe({
    transform: true,
    exceptionFactory: (errors) => {
      const problems = errors.map(({ constraints = {}, property }) => ({
        field: property,
        validator: Object.keys(constraints)[0] ?? "",
        message: Object.values(constraints)[0] ?? ""
      }))
      return new BadRequestException(toError(400, `${problems.length} problems`, problems))
    }
  })
)
await app.listen(Number(process.argv[2]), "127.0.0.1")
console.log(`listening ${new URL(await app.getUrl()).port}`)
