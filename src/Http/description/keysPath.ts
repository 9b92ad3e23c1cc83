/** The well-known URL of the public keys, for the route that answers there and the check of conflicting routes. */

/** Where services that verify this service's tokens find its public keys (RFC 8414, section 2, `jwks_uri`). */
export const keysPath = "/.well-known/jwks.json"
