/** The names of components, by what they are and where they are used, whatever is registered first. */
import * as Document from "./node.ts"

type Node = Document.Node

/** What the names depend on. */
interface Input {
  /** The components under the unique names with which they are generated. */
  readonly schemas: Node
  readonly paths: Node
  /** The names that components should have, by their unique ones. */
  readonly wanted: ReadonlyMap<string, string>
}

/**
 * The names of recursive schemas without one: that of what they are a part of, with the key. `ownerName` is the name of a
 * component that has parts.
 */
export const namesOfParts = (
  { paths, schemas, wanted }: Input,
  ownerName: (component: string) => string
): ReadonlyMap<string, string> => {
  const places = new Map<string, Array<string>>()
  const add = (component: string, place: string) => places.set(component, [...places.get(component) ?? [], place])
  for (const [name, schema] of Object.entries(schemas)) {
    for (const { component, keys } of refsIn(schema)) {
      if (wanted.has(name)) add(component, `${ownerName(name)}${keys.map(capitalised).join("")}`)
    }
  }
  for (const { operation } of Document.operationsOf(paths)) {
    for (const { component } of refsIn(operation)) {
      add(component, String(operation["operationId"]).split(".").map(capitalised).join(""))
    }
  }
  return new Map(
    Object.keys(schemas).filter((name) => !wanted.has(name)).map((
      name
    ) => [name, places.get(name)?.toSorted()[0] ?? name])
  )
}

/** The schemas with lists without a name where they are used. Only a list of itself can't be. */
export const withoutLists = (schemas: Node, wanted: ReadonlyMap<string, string>, value: Node): Node => {
  const isList = (name: string) => !wanted.has(name) && Document.nodeOf(schemas[name])["type"] === "array"
  const below = (name: string): ReadonlyArray<string> =>
    refsIn(schemas[name]).flatMap(({ component }) => isList(component) ? [component] : [])
  const reaches = (from: string, name: string, seen: ReadonlySet<string>): boolean =>
    below(from).some((next) => next === name || !seen.has(next) && reaches(next, name, new Set([...seen, next])))
  return Document.rewrite(value, (part) => {
    const name = Document.componentOf(part)
    return name === undefined || !isList(name) || reaches(name, name, new Set()) ? part : Document.nodeOf(schemas[name])
  })
}

/** The final names of the components that are kept. */
export const componentNames = (
  { paths, schemas, wanted }: Input,
  kept: ReadonlyArray<string>
): ReadonlyMap<string, string> => {
  const uses = usesOf(schemas, paths)
  const names = new Map<string, string>()
  const groups = Map.groupBy(kept, (name) => wanted.get(name) ?? name)
  const taken = new Set(groups.keys())
  for (const [name, members] of [...groups].toSorted(([one], [other]) => one < other ? -1 : 1)) {
    const [first, ...others] = members
      .map((member) => ({ member, text: JSON.stringify(schemas[member]), ...uses(member) }))
      .toSorted((a, b) => Number(a.isSent) - Number(b.isSent) || byNumber(a.path, b.path) || (a.text < b.text ? -1 : 1))
    if (first === undefined) continue
    names.set(first.member, name)
    for (const { isSent, member, path } of others) {
      const place = segmentsOf(path).filter((segment) => !segmentsOf(first.path).includes(segment)).map(capitalised)
      const wishes = [
        ...isSent && !first.isSent ? [`${name}Input`] : [],
        `${place.join("")}${name}`,
        ...others.map((_, i) => `${name}_${i + 1}`)
      ]
      const final = wishes.find((wish) => !taken.has(wish)) ?? member
      taken.add(final)
      names.set(member, final)
    }
  }
  return names
}

// internal

let collator: Intl.Collator | undefined

/** Numbers in paths in their order. The first collator of a process takes much of its memory, and few processes make a document. */
const byNumber = (a: string, b: string): number => {
  collator ??= new Intl.Collator("en", { numeric: true })
  return collator.compare(a, b)
}

const segmentsOf = (path: string): ReadonlyArray<string> =>
  path.split("/").filter((segment) => segment !== "" && !segment.includes("{"))

const capitalised = (text: string): string =>
  text.split(/[^\p{L}\p{N}]+/u).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")

/** The first path of the operations that refer to a component, and whether they only send it. */
const usesOf = (schemas: Node, paths: Node) => {
  const found = new Map<string, { path: string; isSent: boolean }>()
  const visit = (value: unknown, path: string, isSent: boolean, seen: Set<string>) => {
    for (const { component } of refsIn(value)) {
      if (seen.has(component)) continue
      seen.add(component)
      const known = found.get(component)
      found.set(component, {
        path: known === undefined || byNumber(path, known.path) < 0 ? path : known.path,
        isSent: isSent && known?.isSent !== false
      })
      visit(schemas[component], path, isSent, seen)
    }
  }
  for (const { operation, path } of Document.operationsOf(paths)) {
    const { requestBody, ...answered } = operation
    visit(requestBody, path, true, new Set())
    visit(answered, path, false, new Set())
  }
  return (component: string) => found.get(component) ?? { path: "", isSent: false }
}

/** The references in a value, with the keys of properties that lead to them. */
const refsIn = (
  value: unknown,
  keys: ReadonlyArray<string> = []
): ReadonlyArray<{ readonly component: string; readonly keys: ReadonlyArray<string> }> => {
  const component = Document.componentOf(value)
  const own = component === undefined ? [] : [{ component, keys }]
  if (Array.isArray(value)) return value.flatMap((part: unknown) => refsIn(part, keys))
  return [
    ...own,
    ...Object.entries(Document.nodeOf(value)).flatMap(([key, part]) =>
      key === "properties"
        ? Object.entries(Document.nodeOf(part)).flatMap(([name, inner]) => refsIn(inner, [...keys, name]))
        : refsIn(part, keys)
    )
  ]
}
