/**
 * Resources and services over HTTP: their descriptions, implementations, engine, server, typed client and OpenAPI
 * document.
 *
 * @since 0.1.0
 */
export * as AccessPolicy from "./AccessPolicy.ts"
export * as Action from "./Action.ts"
export * as Cors from "./Cors.ts"
export * as Envelope from "./Envelope.ts"
export * as Guard from "./Guard.ts"
export * as History from "./History.ts"
export * as HttpError from "./HttpError.ts"
export * as KernelApi from "./KernelApi.ts"
export * as KernelClient from "./KernelClient.ts"
export * as KernelConfig from "./KernelConfig.ts"
export * as KernelEngine from "./KernelEngine.ts"
export * as KernelServer from "./KernelServer.ts"
export * as Monitoring from "./Monitoring.ts"
export * as OpenApi from "./OpenApi.ts"
export * as Operation from "./Operation.ts"
export * as RateLimits from "./RateLimits.ts"
export * as Raw from "./Raw.ts"
export * as Resource from "./Resource.ts"
export * as Service from "./Service.ts"
export { ServiceError } from "./ServiceError.ts"
export * as Tokens from "./Tokens.ts"
export * as TokensApi from "./TokensApi.ts"
export * as Translations from "./Translations.ts"
export { UpstreamError } from "./UpstreamError.ts"
