/** What tells one password of an account from the next. */
import * as Base64 from "effect/encoding/Base64"
import * as PasswordHash from "../../internal/passwordHash.ts"
import { hashOf } from "./hash.ts"

/** The stamp of a hash: new for each password that is set, the same for a stronger hash of the same salt. */
export const stampOf = (secret: string): string => {
  const salt = PasswordHash.parse(secret)?.salt
  return hashOf(salt === undefined ? secret : Base64.encode(salt))
}
