import { isErrorWithoutFields } from "./errors.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/**
 * Merges equal schemas. The descriptions of a model differ only in their links, which the documents of resources have.
 *
 * @internal
 */
export const aliasesIn = (
  schemas: Node,
  wantedNames: ReadonlyMap<string, string>,
  errorName: string,
  documents: ReadonlySet<string>
): ReadonlyMap<string, string> => {
  const hasLinks = (name: string): boolean =>
    documents.has(wantedNames.get(name) ?? name) &&
    "_links" in Document.nodeOf(Document.nodeOf(schemas[name])["properties"])
  const byText = new Map<string, Array<string>>()
  for (const [name, wanted] of wantedNames) {
    const schema = schemas[name]
    // A recursive schema refers to itself. References are compared by the names that their targets should have.
    const neutral = Document.rewrite(Document.nodeOf(schema), (part) => {
      const inner = Document.componentOf(part)
      return inner === undefined ? withoutLink(part) : { ...part, $ref: wantedNames.get(inner) ?? inner }
    })
    const key = `${wanted} ${JSON.stringify(neutral)}`
    byText.set(key, [...byText.get(key) ?? [], name])
  }
  const errors = Object.entries(schemas).flatMap(([name, schema]): ReadonlyArray<[string, string]> =>
    name !== errorName && isErrorWithoutFields(Document.nodeOf(schema)) ? [[name, errorName]] : []
  )
  const aliases = new Map(errors)
  for (const equal of byText.values()) {
    const kept = equal.find(hasLinks) ?? equal[0]
    for (const name of equal) if (kept !== undefined && name !== kept && !aliases.has(name)) aliases.set(name, kept)
  }
  return aliases
}

/**
 * The requested names of the schemas if they are free. The generator reserves more names than it uses.
 *
 * @internal
 */
export const finalNames = (
  kept: ReadonlyArray<string>,
  wantedNames: ReadonlyMap<string, string>
): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Set(kept.filter((name) => !wantedNames.has(name)))
  for (const [name, wanted] of wantedNames) {
    if (!kept.includes(name)) continue
    let final = wanted
    for (let i = 1; taken.has(final); i++) final = `${wanted}_${i}`
    taken.add(final)
    names.set(name, final)
  }
  return names
}

const withoutLink = (schema: Node): Node => {
  const { properties } = schema
  if (!Document.isNode(properties) || !("_type" in properties) || !("_links" in properties)) return schema
  const { _links: _, ...fields } = properties
  return { ...schema, properties: fields }
}
