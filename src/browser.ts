/**
 * What of the package runs in a browser: models, the description of a service, and its client. Bundlers take this module
 * for the package by the condition `browser`.
 *
 * @since 0.1.0
 */
export * as Credentials from "./Client/Credentials.ts"
export * as Action from "./Http/Action.ts"
export * as Envelope from "./Http/Envelope.ts"
export * as HttpError from "./Http/HttpError.ts"
export * as KernelApi from "./Http/KernelApi.ts"
export * as KernelClient from "./Http/KernelClient.ts"
export * as Operation from "./Http/Operation.ts"
export * as Raw from "./Http/Raw.ts"
export * as Resource from "./Http/Resource.ts"
export * as Service from "./Http/Service.ts"
export { ServiceError } from "./Http/ServiceError.ts"
export * as TokensApi from "./Http/TokensApi.ts"
export { UpstreamError } from "./Http/UpstreamError.ts"
export * from "./Model/index.ts"
