/** What of the URL of a request is compared, repeated in an answer, and written into logs. */

/** A slash more never matters. Two at the beginning of an address in an answer would name a host. */
export const withoutSlashes = (url: string): string =>
  url.replace(/^[^?]*/u, (path) => path.replaceAll(/\/+/gu, "/").replace(/\/$/u, ""))

/** The path, without slashes too many. */
export const pathOfRequest = ({ url }: { readonly url: string }): string => withoutSlashes(url).split("?", 1)[0]!

/** The path for logs and spans, of a URL with or without a host. Whoever has a signed address of a file may read it. */
export const withoutSecrets = (url: string): string => url.replace(/[?#].*$/su, "").replace(/(\/signed\/).*$/su, "$1")
