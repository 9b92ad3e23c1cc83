import * as Document from "./node.ts"
import type { Resource } from "./schemas.ts"
import { isBelow } from "./standardOperations.ts"

/**
 * A tag, which groups operations in the documentation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tag {
  readonly name: string
  readonly description?: string | undefined
  readonly externalDocs?: { readonly url: string; readonly description?: string | undefined } | undefined
}

/**
 * The tags of the operations, in order. A tag without a description gets the name and path of its registration.
 *
 * @internal
 */
export const tagsOf = (
  paths: Document.Node,
  resources: ReadonlyArray<Resource>,
  described: ReadonlyArray<Tag>
): ReadonlyArray<Tag> => {
  const pathsByTag = new Map<string, Array<string>>()
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(Document.nodeOf(item))) {
      for (const tag of Document.listOf(Document.nodeOf(operation)["tags"]).map(String)) {
        const known = pathsByTag.get(tag)
        if (known === undefined) pathsByTag.set(tag, [path])
        else known.push(path)
      }
    }
  }
  return Array.from(pathsByTag, ([name, tagged]) => {
    const tag = described.find((tag) => tag.name === name)
    return tag?.description === undefined ? { ...tag, name, description: descriptionOf(tagged, resources) } : tag
  })
}

const descriptionOf = (paths: ReadonlyArray<string>, resources: ReadonlyArray<Resource>): string => {
  const texts = paths.map((path) => {
    const resource = resources.find((resource) => isBelow(resource, path))
    return resource === undefined
      ? `Operations at \`${staticPartOf(path)}\``
      : `Documents of the model \`${resource.model.modelName}\`, at \`${resource.path}\``
  })
  return [...new Set(texts)].join("; ")
}

const staticPartOf = (path: string): string => path.replace(/\/\{.*$/u, "") || "/"
