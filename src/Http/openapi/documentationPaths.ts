/** @internal */
export const openApiPath = "/openapi.json"

/** @internal */
export const swaggerPath = "/docs"

/** @internal */
export const redocPath = "/redoc"

/**
 * The paths of the OpenAPI document and of the pages that show it.
 *
 * @internal
 */
export const documentationPaths = (includeDocs: boolean | undefined): ReadonlyArray<`/${string}`> =>
  includeDocs === false ? [openApiPath] : [openApiPath, swaggerPath, redocPath]
