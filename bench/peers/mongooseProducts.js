/** The collection of products by mongoose, on the server of MONGO_URL. */
import mongoose from "mongoose"
import { seeds } from "../data.ts"

const { Schema } = mongoose

const dimensions = new Schema({
  width: { type: Number, required: true, min: 0 },
  height: { type: Number, required: true, min: 0 },
  depth: { type: Number, required: true, min: 0 }
}, { _id: false })

const schema = new Schema({
  _id: String,
  code: { type: String, required: true, minlength: 1 },
  name: { type: String, required: true, minlength: 1 },
  description: String,
  price: { type: Number, required: true, min: 0 },
  currency: { type: String, required: true, enum: ["EUR", "CHF", "USD"] },
  stock: { type: Number, required: true, min: 0, validate: Number.isInteger },
  tags: { type: [String], default: [] },
  dimensions,
  added: { type: Date, required: true }
}, { versionKey: false })
schema.index({ currency: 1, price: 1 })

const Product = mongoose.model("Product", schema)

const storedOf = ({ id, ...product }) => ({ _id: id, ...product })
const productOf = ({ _id, ...product }) => ({ id: _id, ...product })

await mongoose.connect(process.env.MONGO_URL, { dbName: `bench-${process.pid}`, autoIndex: false })
await Product.createIndexes()
for (let i = 0; i < seeds.length; i += 1000) await Product.insertMany(seeds.slice(i, i + 1000).map(storedOf))

export const get = async (id) => {
  const found = await Product.findById(id).lean()
  return found === null ? undefined : productOf(found)
}

const page = async (query, number, size) => {
  const [items, total] = await Promise.all([
    query.clone().skip((number - 1) * size).limit(size).lean(),
    query.clone().countDocuments()
  ])
  return { items: items.map(productOf), total }
}

export const list = (number, size) => page(Product.find().sort({ _id: 1 }), number, size)

export const filtered = (currency, above, number, size) =>
  page(Product.find({ currency, price: { $gt: above } }).sort({ price: 1, _id: 1 }), number, size)

/** The problems of a body. The schema has all rules; what the service adds is left out. */
export const problemsOf = async (body) => {
  const errors = await new Product({ ...body, _id: "new", added: new Date() }).validate().then(() => ({}), (error) =>
    error.errors)
  return Object.entries(errors).map(([field, { kind, message }]) => ({ field, validator: kind, message }))
}

export const add = async (product) => {
  await Product.create(storedOf(product))
}

export const change = async (id, body) =>
  (await Product.updateOne({ _id: id }, { $set: body }, { runValidators: true })).matchedCount === 1
