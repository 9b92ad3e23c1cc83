/** `Vary` and `Cache-Control` for responses that depend on credentials, so that shared caches do not mix callers. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { varyWith } from "../../internal/vary.ts"

/** Adds the headers for caches: `Vary` names the headers of credentials, and the response to a caller is `private`. */
export const makeCallerHeaders = (credentialHeaders: ReadonlyArray<string>): CallerHeaders => {
  const names = credentialHeaders.map((name) =>
    name.split("-").map((part) => part === "api" ? "API" : part.charAt(0).toUpperCase() + part.slice(1)).join("-")
  )
  const all = varyWith(undefined, names)
  const forAll: CallerHeaders["forAll"] = (response) => {
    const known = response.headers["vary"]
    return HttpServerResponse.setHeader(response, "vary", known === undefined ? all : varyWith(known, names))
  }
  return {
    forAll,
    forCaller: (response) => {
      const known = response.headers["cache-control"]
      const varied = forAll(response)
      return known !== undefined && isPrivate(known)
        ? varied
        : HttpServerResponse.setHeader(varied, "cache-control", "private, no-cache")
    }
  }
}

export interface CallerHeaders {
  /** For a response that is the same for all requests without credentials. */
  readonly forAll: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
  /** For a response to a caller, or about missing or wrong credentials. */
  readonly forCaller: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
}

/** Whether the application has forbidden shared caches to store the response. */
const isPrivate = (cacheControl: string): boolean =>
  cacheControl.toLowerCase().split(",").some((directive) => {
    const name = directive.trim()
    return name === "no-store" || name === "private"
  })
