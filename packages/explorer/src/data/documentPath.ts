/** Where the page of a document is: one of the identifier `create` has an address of its own, since a new one is at that. */
export const documentPath = (resource: string, id: string): string =>
  `/${resource}/${encodeURIComponent(id)}${id === newId ? `/${ownPage}` : ""}`

const newId = "create"
const ownPage = "document"

/** The route of such a document, within those of its model. */
export const ownRoute = `${newId}/${ownPage}`

/** The identifier in an address. The router's own takes an encoded slash for one that is written. */
export const idIn = (pathname: string): string => {
  const [, , id = ""] = pathname.split("/")
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
