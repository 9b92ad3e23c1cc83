/**
 * What the package says in English. Messages of validators are where the validators are.
 *
 * @internal
 */
export const en = {
  "errors.Invalid": "The request is not valid: {problems}",
  "errors.Problem": "{label} {message}",
  "errors.Item": "{label} (item {position})",
  "errors.Position": "Item {position}",
  "errors.Body": "The body {message}",
  "errors.InItem": "Item {position}: {message}",
  "errors.DocumentNotFound": "{model} {id} does not exist",
  "errors.DuplicateKey": "There is another {model} with the same {fields}",
  "errors.VersionConflict": "{model} {id} no longer has version {expected}",
  "errors.QueryRejected": "The store can't take what the request asks for or sends",
  "errors.QueryTimeout": "The query took too long and was stopped",
  "errors.StoreUnavailable": "The store is unavailable, try again later",
  "errors.Unsupported": "The store does not support {feature}",
  "errors.Route": "There is nothing at {path}",
  "errors.MethodNotAllowed": "The method {method} is not allowed for {path}",
  "errors.NotAcceptable": "The answer is application/json, which the Accept header does not allow",
  "errors.PreconditionFailed": "The document is not the one that If-Match or If-None-Match asks for",
  "errors.BodyTooLarge": "The body is larger than the {limit} bytes that are accepted",
  "errors.BodyType": "The body must be {types}",
  "errors.BodyUnreadable": "The body can't be read",
  "errors.BodyNotUtf8": "The body is not valid UTF-8",
  "errors.BodyNotUnicode": "The body has a text that is not valid Unicode",
  "errors.BodyTooDeep": "The body is nested more than {depth} levels deep",
  "errors.BodyNotJson": "The body is not valid JSON: {reason}",
  "errors.InternalServerError": "The request could not be handled; it is logged as {id}"
}
