import type { Json } from "./jsonValues.ts"

/** An OpenAPI document whose operations have their parameters, headers and responses instead of references to shared ones. */
export const resolvedDocument = (document: object): Json => {
  const { components, paths, ...rest }: Json = document
  const { headers: _, parameters: __, responses: ___, ...others } = components
  const resolved = (part: Json): Json => {
    if (Array.isArray(part)) return part.map(resolved)
    if (typeof part !== "object" || part === null) return part
    const [, kind, name] = /^#\/components\/(parameters|headers|responses)\/(.+)$/u.exec(part.$ref ?? "") ?? []
    return kind === undefined || name === undefined
      ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, resolved(inner)]))
      : resolved(components[kind][name])
  }
  return { ...rest, components: others, paths: resolved(paths) }
}
