import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { quote } from "../../internal/json.ts"
import type { FieldProblem } from "../../Model/introspection.ts"
import { Problem } from "../../Model/ModelError.ts"
import { BadRequest } from "../HttpError.ts"
import { copied, saidOf, sayable } from "../messages/message.ts"

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
 * Refuses what is wrong, all of it.
 *
 * @internal
 */
export const invalid = (problems: ReadonlyArray<FieldProblem>): BadRequest => {
  const message = `The request is not valid: ${problems.map(({ field, message }) => `${field} ${message}`).join("; ")}`
  const errors = problems.map((problem) => copied(problem, new Problem(problem)))
  return sayable(new BadRequest({ message, errors }), "errors.Invalid")
}

/**
 * What an application itself says of a bad request.
 *
 * @internal
 */
export const messageOf = (error: BadRequest): string | undefined =>
  saidOf(error) === undefined ? error.message : undefined

/**
 * What was done. `result` is JSON.
 *
 * @internal
 */
export const operationResult = (
  result: string,
  status = 200,
  headers?: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse => json(`{"_type":"OperationResult","result":${result}}`, status, headers)
