/**
 * The URL of the stream that watches several collections, for the server, the OpenAPI document and the typed client.
 */

/** The path of the changes of several collections: beside these, `/api/v1/changes` for `/api/v1/orders/changes`. */
export const watchPathOf = (changesPath: string): `/${string}` =>
  `/${changesPath.split("/").slice(1, -2).concat("changes").join("/")}`
