/**
 * The name under which a download is saved: from the answer's `Content-Disposition` header (RFC 6266), or from the URL.
 *
 * Both come from outside, so the name is made safe for a folder on Linux, macOS and Windows alike: it has no separators,
 * no control or invisible characters, no device of Windows (`CON`), no leading or trailing dots and spaces, and at most
 * 255 bytes.
 */
import * as Result from "effect/Result"
import { nameInHeader, safeFileName } from "../../internal/safeFileName.ts"

/** The file name of `filename*` or `filename`, else of the last non-empty segment of the path, else `download`. */
export const fileNameOf = (disposition: string | undefined, url: string): string =>
  (disposition === undefined ? undefined : safeFileName(nameInHeader(disposition)))
    ?? safeFileName(lastSegment(url))
    ?? "download"

// internal

const lastSegment = (url: string): string => {
  const segment = URL.parse(url)?.pathname.split("/").findLast((one) => one !== "") ?? ""
  return Result.getOrElse(Result.try(() => decodeURIComponent(segment)), () => segment)
}
