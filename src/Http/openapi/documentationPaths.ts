/** The URLs of the OpenAPI document, Swagger UI and ReDoc, for routes and for the check of conflicts. */

export const openApiPath = "/openapi.json"

export const swaggerPath = "/docs"

export const redocPath = "/redoc"

/** The paths of the OpenAPI document and of the pages that show it. */
export const documentationPaths = (includeDocs: boolean | undefined): ReadonlyArray<`/${string}`> =>
  includeDocs === false ? [openApiPath] : [openApiPath, swaggerPath, redocPath]
