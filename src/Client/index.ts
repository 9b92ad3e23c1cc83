/**
 * Calls to other services: a pooled HTTP client with a circuit breaker for each upstream.
 *
 * @since 0.1.0
 */
export * as CircuitBreaker from "./CircuitBreaker.ts"
export * as ClientError from "./ClientError.ts"
export * as Credentials from "./Credentials.ts"
export * as Deadline from "./Deadline.ts"
export * as HttpClientConfig from "./HttpClientConfig.ts"
export * as HttpClientFactory from "./HttpClientFactory.ts"
export * as HttpClientServiceProxy from "./HttpClientServiceProxy.ts"
export * as RequestWrapper from "./RequestWrapper.ts"
