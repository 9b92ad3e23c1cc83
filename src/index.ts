/**
 * The package: models, repositories, calls to services, security, access control and HTTP. Each folder is also an entry
 * of its own.
 *
 * @since 0.1.0
 */
export * from "./Access/index.ts"
export * from "./Client/index.ts"
export * from "./Files/index.ts"
export * from "./Http/index.ts"
export * from "./Jobs/index.ts"
export * from "./Model/index.ts"
export * from "./Repository/index.ts"
export * from "./Security/index.ts"
