/** The keys of what the engine says with each error. They stand apart from the table of errors, since clients load that one. */
import type { Key } from "../../internal/texts.ts"

export const errorKeys = {
  BadRequest: [
    "errors.Invalid",
    "errors.QueryRejected",
    "errors.QueryAdvice",
    "errors.ItemRejected",
    "errors.BodyUnreadable",
    "errors.BodyNotUtf8",
    "errors.BodyNotUnicode",
    "errors.BodyTooDeep",
    "errors.BodyNotJson",
    "errors.BodyNotParameters",
    "errors.BodyNotTable",
    "errors.FormUnreadable",
    "errors.FileNeeded",
    "errors.TooManyParameters",
    "errors.BadlyEncodedPath",
    "errors.BadlyEncodedName",
    "errors.BadlyEncodedValue"
  ],
  Unauthorized: ["errors.CredentialsNeeded", "errors.CredentialsInvalid", "errors.WatchDenied"],
  Forbidden: ["errors.Denied", "errors.FieldForbidden", "errors.Forbidden", "errors.InItem", "errors.WatchDenied"],
  NotFound: ["errors.DocumentNotFound", "errors.Route", "errors.PictureUnreadable", "errors.PictureTooLarge"],
  MethodNotAllowed: ["errors.MethodNotAllowed"],
  NotAcceptable: ["errors.NotAcceptable"],
  Conflict: [
    "errors.DuplicateKey",
    "errors.DuplicateValue",
    "errors.DocumentReferenced",
    "errors.VersionConflict",
    "errors.InItem",
    "errors.NotAllInserted",
    "errors.patch.PatchConflict",
    "errors.KeyRunning",
    "errors.UploadOffset",
    "errors.AnswerNotKept"
  ],
  Gone: ["errors.PositionGone"],
  PreconditionFailed: ["errors.PreconditionFailed", "errors.UploadProtocol"],
  PayloadTooLarge: [
    "errors.BodyTooLarge",
    "errors.TooManyFields",
    "errors.FormTooLarge",
    "errors.TooManyDocuments",
    "errors.PictureTooLarge",
    "errors.UploadParts",
    "errors.FileQuota",
    "errors.FileQuotaBy",
    "errors.InItem"
  ],
  UnsupportedMediaType: ["errors.BodyType", "errors.BodyEncoding", "errors.FileType", "errors.PictureUnreadable"],
  UnprocessableContent: ["errors.KeyReused", "errors.FileType", "errors.PictureUnreadable"],
  TooManyRequests: ["errors.TooManyRequests", "errors.TooManyAttempts", "errors.CostlyStreams"],
  InternalServerError: ["errors.InternalServerError", "errors.DataDamaged"],
  NotImplemented: ["errors.Unsupported"],
  ServiceUnavailable: [
    "errors.StoreUnavailable",
    "errors.QueryTimeout",
    "errors.Overload",
    "errors.ResponseTimeout",
    "errors.ResponsesTooLarge",
    "errors.CredentialsUnchecked"
  ]
} as const satisfies { readonly [tag: string]: ReadonlyArray<Key> }
