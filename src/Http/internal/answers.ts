import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { FieldProblem } from "../../Model/internal/issues.ts"
import { quote } from "../../Model/internal/serialiser.ts"
import { Problem } from "../../Model/ModelError.ts"
import { BadRequest, type HttpError, statusOf } from "../HttpError.ts"

/** @internal */
export const json = (
  text: string,
  status = 200,
  headers?: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse => {
  let response = HttpServerResponse.text(text, { status, contentType: "application/json" })
  // One by one: as an option, they cost four times as much.
  for (const name in headers) response = HttpServerResponse.setHeader(response, name, headers[name]!)
  return response
}

/** @internal */
export const errorMessage = (
  code: number,
  message: string,
  headers?: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse =>
  json(`{"_type":"ErrorMessage","code":${code},"message":${quote(message)}}`, code, headers)

/** @internal */
export const badRequest = (
  message: string,
  problems: ReadonlyArray<FieldProblem>,
  headers?: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse => {
  let errors = ""
  for (const { field, message, validator } of problems) {
    errors += `${errors === "" ? "" : ","}{"field":${quote(field)},"validator":${quote(validator)},"message":${
      quote(message)
    }}`
  }
  return json(`{"_type":"ErrorMessage","code":400,"message":${quote(message)},"errors":[${errors}]}`, 400, headers)
}

/**
 * All that is wrong, in one sentence.
 *
 * @internal
 */
export const sentence = (problems: ReadonlyArray<FieldProblem>): string =>
  `The request is not valid: ${
    problems.map(({ field, message }) => field === "" ? message : `${field} ${message}`).join("; ")
  }`

/**
 * Refuses what is wrong, all of it.
 *
 * @internal
 */
export const invalid = (problems: ReadonlyArray<FieldProblem>): BadRequest =>
  new BadRequest({ message: sentence(problems), errors: problems.map((problem) => new Problem(problem)) })

/**
 * Answers 405 (RFC 9110, section 15.5.6).
 *
 * @internal
 */
export const notAllowed = (
  method: string,
  path: string,
  allowed: ReadonlyArray<string>
): HttpServerResponse.HttpServerResponse =>
  errorMessage(405, `The method ${method} is not allowed for ${path}`, { allow: allowed.join(", ") })

/** @internal */
export const ofError = (error: HttpError): HttpServerResponse.HttpServerResponse =>
  error._tag === "BadRequest"
    ? badRequest(error.message, error.errors)
    : errorMessage(statusOf[error._tag], error.message)

/** @internal */
export const operationResult = (
  result: string | number | ReadonlyArray<string>,
  status = 200,
  headers?: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse =>
  json(
    `{"_type":"OperationResult","result":${typeof result === "string" ? quote(result) : JSON.stringify(result)}}`,
    status,
    headers
  )
