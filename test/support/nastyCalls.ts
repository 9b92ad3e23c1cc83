/** Programs that call the nasty service by generated clients; what they print is in `generatedClients.ts`. */

export const openapiTypescript = `
import createClient from "openapi-fetch"
import type { components, paths } from "./schema.js"

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "" })
const printed: Record<string, unknown> = {}
const header = { Prefer: "return=representation" }

const answered = <T>({ data, error }: { data?: T; error?: unknown }): NonNullable<T> => {
  if (data === undefined || data === null) throw new Error(JSON.stringify(error))
  return data
}

const newThing = (text: string, count: number): components["schemas"]["ThingCreate"] => ({
  text,
  code: "AB-123",
  count,
  flag: true,
  perhaps: null,
  kind: "a",
  day: "2026-01-31",
  part: { label: "a part" },
  level: 1,
  tags: [],
  parts: []
})

const thing = answered(await client.POST("/api/v1/things", { params: { header }, body: newThing("one", 1) }))
if (thing._type !== "Thing") throw new Error(thing._type)
printed["create"] = thing.text
const { _items: things } = answered(await client.GET("/api/v1/things", { params: { query: { text: "one" } } }))
printed["list"] = things.map(({ text }) => text)
const path = { id: thing.id }
printed["get"] = answered(await client.GET("/api/v1/things/{id}", { params: { path } })).text
const patched = answered(await client.PATCH("/api/v1/things/{id}", { params: { path, header }, body: { text: "two" } }))
printed["patch"] = patched._type === "Thing" && patched.text
printed["action"] = answered(
  await client.POST("/api/v1/things/{id}/rename", { params: { path }, body: { text: "three" } })
).text
const { error, response } = await client.POST("/api/v1/things", { body: newThing("no", 13) })
printed["error"] = error !== undefined && "error" in error && error.error === "Refused"
  ? [response.status, error.error, error.count]
  : error

const uploaded = answered(
  await client.POST("/api/v1/files/upload", {
    body: { scan: "hello", note: "a note" },
    bodySerializer({ scan, note }) {
      const form = new FormData()
      form.append("scan", new Blob([scan]), "scan.txt")
      if (note !== undefined) form.append("note", note)
      return form
    }
  })
)
printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
printed["csv"] = answered(
  await client.POST("/api/v1/größen/本/import", {
    body: "a,b",
    bodySerializer: (text) => text,
    headers: { "content-type": "text/csv" },
    parseAs: "text"
  })
)

const odd = answered(
  await client.POST("/api/v1/odds", {
    params: { header },
    body: {
      class: "class",
      from: 1,
      type: "type",
      default: "2nd",
      "first-name": "dashed",
      first_name: "low",
      firstName: "camel",
      "2nd": true,
      größe: 1234567.89
    }
  })
)
if (odd._type !== "Odd") throw new Error(odd._type)
printed["odd"] = [odd.class, odd.from, odd.type, odd.default, odd["first-name"], odd.first_name, odd.firstName, odd["2nd"], odd.größe]
const query = { class: "class", "first-name": "dashed", größe: "1234567.89", "2nd": "true" }
printed["oddList"] = answered(await client.GET("/api/v1/odds", { params: { query } }))._items.map((odd) => odd.class)

const branch = { name: "root", branches: [{ name: "leaf", branches: [] }] }
const tree = answered(await client.POST("/branches", { params: { header }, body: branch }))
printed["tree"] = tree._type === "Branch" && tree.branches[0]?.name

const kinds = answered(
  await client.POST("/api/v1/kindses", {
    params: { header },
    body: { template: "v1", int: 1, bigint: "42", unknown: "any", union: true, dateTimeUtcFromMillis: 1769851800000, finite: 1234567.89 }
  })
)
if (kinds._type !== "Kinds") throw new Error(kinds._type)
printed["kinds"] = [kinds.template, kinds.int, kinds.bigint, kinds.unknown, kinds.union, kinds.dateTimeUtcFromMillis, kinds.finite]

printed["version2"] = answered(await client.POST("/api/v2/odds", { body: { class: ["class"] } })).class
console.log(JSON.stringify(printed))
`

/** What both have of the same names. */
const newThing = `
const newThing = (text: string, count: number) => ({
  text,
  code: "AB-123",
  count,
  flag: true,
  perhaps: null,
  kind: "a" as const,
  day: "2026-01-31",
  part: { label: "a part" }
})
const newOdd = {
  class: "class",
  from: 1,
  type: "type",
  default: "2nd" as const,
  "first-name": "dashed",
  first_name: "low",
  firstName: "camel",
  "2nd": true,
  größe: 1234567.89
}
const oddQuery = { class: "class", "first-name": "dashed", größe: "1234567.89", "2nd": "true" }
const newBranch = { name: "root", branches: [{ name: "leaf", branches: [] }] }
const newKinds = { template: "v1", int: 1, bigint: "42", unknown: "any", union: true, dateTimeUtcFromMillis: 1769851800000, finite: 1234567.89 }
`

export const heyApi = `
import { client } from "./client/client.gen"
import * as sdk from "./client/sdk.gen"
${newThing}
const main = async () => {
  client.setConfig({ baseUrl: process.argv[2] ?? "" })
  const printed: Record<string, unknown> = {}
  const throwOnError = true
  const headers = { Prefer: "return=representation" }

  const { data: thing } = await sdk.thingsCreate({ body: newThing("one", 1), headers, throwOnError })
  if (thing._type !== "Thing") throw new Error(thing._type)
  printed["create"] = thing.text
  const { data: page } = await sdk.thingsList({ query: { text: "one" }, throwOnError })
  printed["list"] = page._items.map((item) => item.text)
  const path = { id: thing.id }
  printed["get"] = (await sdk.thingsGet({ path, throwOnError })).data.text
  const { data: patched } = await sdk.thingsPatch({ path, body: { text: "two" }, headers, throwOnError })
  printed["patch"] = patched._type === "Thing" && patched.text
  printed["action"] = (await sdk.thingsRename({ path, body: { text: "three" }, throwOnError })).data.text
  const { error, response } = await sdk.thingsCreate({ body: newThing("no", 13) })
  printed["error"] = error !== undefined && "error" in error && error.error === "Refused"
    ? [response?.status, error.error, error.count]
    : error
  const scan = new File(["hello"], "scan.txt")
  const { data: uploaded } = await sdk.filesUpload({ body: { scan, note: "a note" }, throwOnError })
  printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
  printed["csv"] = (await sdk.defaultsImport({ body: "a,b", throwOnError })).data

  const { data: odd } = await sdk.oddsCreate({ body: newOdd, headers, throwOnError })
  if (odd._type !== "Odd") throw new Error(odd._type)
  printed["odd"] = [odd.class, odd.from, odd.type, odd.default, odd["first-name"], odd.first_name, odd.firstName, odd["2nd"], odd.größe]
  printed["oddList"] = (await sdk.oddsList({ query: oddQuery, throwOnError })).data._items.map((odd) => odd.class)
  const { data: tree } = await sdk.branchesCreate({ body: newBranch, headers, throwOnError })
  printed["tree"] = tree._type === "Branch" && tree.branches[0]?.name
  const { data: kinds } = await sdk.kindsesCreate({ body: newKinds, headers, throwOnError })
  if (kinds._type !== "Kinds") throw new Error(kinds._type)
  printed["kinds"] = [kinds.template, kinds.int, kinds.bigint, kinds.unknown, kinds.union, kinds.dateTimeUtcFromMillis, kinds.finite]
  printed["version2"] = (await sdk.oddsV2Create({ body: { class: ["class"] }, throwOnError })).data.class
  console.log(JSON.stringify(printed))
}

void main()
`

export const orval = `
import * as nasty from "./client"
${newThing}
const main = async () => {
  const printed: Record<string, unknown> = {}
  const whole = { headers: { Prefer: "return=representation" } }

  const created = await nasty.thingsCreate(newThing("one", 1), whole)
  if (created.status !== 201 || created.data._type !== "Thing") throw new Error(JSON.stringify(created))
  const thing = created.data
  printed["create"] = thing.text
  const page = await nasty.thingsList({ text: "one" })
  printed["list"] = page.status === 200 ? page.data._items.map((item) => item.text) : page
  const got = await nasty.thingsGet(thing.id)
  printed["get"] = got.status === 200 ? got.data.text : got
  const patched = await nasty.thingsPatch(thing.id, { text: "two" }, whole)
  printed["patch"] = patched.status === 200 && patched.data._type === "Thing" ? patched.data.text : patched
  const renamed = await nasty.thingsRename(thing.id, { text: "three" })
  printed["action"] = renamed.status === 200 ? renamed.data.text : renamed
  const refused = await nasty.thingsCreate(newThing("no", 13))
  printed["error"] = refused.status === 422 && "error" in refused.data
    ? [refused.status, refused.data.error, refused.data.count]
    : refused
  const uploaded = await nasty.filesUpload({ scan: new File(["hello"], "scan.txt"), note: "a note" })
  printed["upload"] = uploaded.status === 200 ? [uploaded.data.name, uploaded.data.size, uploaded.data.note] : uploaded
  const table = await nasty.defaultsImport("a,b")
  printed["csv"] = table.status === 200 ? table.data : table

  const newborn = await nasty.oddsCreate(newOdd, whole)
  if (newborn.status !== 201 || newborn.data._type !== "Odd") throw new Error(JSON.stringify(newborn))
  const odd = newborn.data
  printed["odd"] = [odd.class, odd.from, odd.type, odd.default, odd["first-name"], odd.first_name, odd.firstName, odd["2nd"], odd.größe]
  const odds = await nasty.oddsList(oddQuery)
  printed["oddList"] = odds.status === 200 ? odds.data._items.map((odd) => odd.class) : odds
  const tree = await nasty.branchesCreate(newBranch, whole)
  printed["tree"] = tree.status === 201 && tree.data._type === "Branch" ? tree.data.branches[0]?.name : tree
  const kinds = await nasty.kindsesCreate(newKinds, whole)
  if (kinds.status !== 201 || kinds.data._type !== "Kinds") throw new Error(JSON.stringify(kinds))
  const { bigint, dateTimeUtcFromMillis, finite, int, template, union, unknown } = kinds.data
  printed["kinds"] = [template, int, bigint, unknown, union, dateTimeUtcFromMillis, finite]
  const second = await nasty.oddsV2Create({ class: ["class"] })
  printed["version2"] = second.status === 200 ? second.data.class : second
  console.log(JSON.stringify(printed))
}

void main()
`

/** Forms are left out, as for the shop. */
export const openapiPythonClient = `
import json, sys
from client import Client
from client import models as m
from client.api.branches import branches_create
from client.api.kindses import kindses_create
from client.api.odds import odds_create, odds_list, odds_v2_create
from client.api.things import things_create, things_get, things_list, things_patch, things_rename

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
printed = {}
whole = "return=representation"

def new_thing(text, count):
    return m.ThingCreate.from_dict({"text": text, "code": "AB-123", "count": count, "flag": True, "perhaps": None,
        "kind": "a", "day": "2026-01-31", "part": {"label": "a part"}})

thing = things_create.sync(client=client, body=new_thing("one", 1), prefer=whole)
printed["create"] = thing.text
printed["list"] = [item.text for item in things_list.sync(client=client, text="one").field_items]
printed["get"] = things_get.sync(thing.id, client=client).text
printed["patch"] = things_patch.sync(thing.id, client=client, body=m.ThingPatch(text="two"), prefer=whole).text
printed["action"] = things_rename.sync(thing.id, client=client, body=m.ThingsRenameBody(text="three")).text
refused = things_create.sync_detailed(client=client, body=new_thing("no", 13))
printed["error"] = [int(refused.status_code), refused.parsed.error.value, refused.parsed.count]

odd = odds_create.sync(client=client, prefer=whole, body=m.OddCreate.from_dict({"class": "class", "from": 1, "type": "type",
    "default": "2nd", "first-name": "dashed", "first_name": "low", "firstName": "camel", "2nd": True, "größe": 1234567.89})).to_dict()
names = ["class", "from", "type", "default", "first-name", "first_name", "firstName", "2nd", "größe"]
printed["odd"] = [odd[name] for name in names]
printed["oddList"] = [item.class_ for item in odds_list.sync(client=client, class_="class").field_items]
leaf = m.BranchCreate(name="leaf", branches=[])
tree = branches_create.sync(client=client, body=m.BranchCreate(name="root", branches=[leaf]), prefer=whole)
printed["tree"] = tree.branches[0].name
kinds = kindses_create.sync(client=client, prefer=whole, body=m.KindsCreate(template="v1", int_=1, bigint="42",
    unknown="any", union=True, date_time_utc_from_millis=1769851800000, finite=1234567.89))
printed["kinds"] = [kinds.template, kinds.int_, kinds.bigint, kinds.unknown, kinds.union,
    kinds.date_time_utc_from_millis, kinds.finite]
printed["version2"] = odds_v2_create.sync(client=client, body=m.V2OddCreate(class_=["class"])).class_
print(json.dumps(printed))
`
