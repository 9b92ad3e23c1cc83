/** Errors of answers, in the form that react-admin's forms and notifications take. */
import { isJson, jsonList, jsonNumber, jsonObject, jsonText } from "../description/json.ts"
import { KernelError } from "../KernelError.ts"

/** The error of an answer that is none of 200 to 299. */
export const errorOf = async (response: Response): Promise<KernelError> => {
  const body: unknown = await response.json().catch(() => undefined)
  const members = jsonObject(body)
  const message = jsonText(members["message"]) ?? jsonText(members["detail"]) ??
    `${response.status} ${response.statusText}`
  const problems = jsonList(members["errors"]).filter(isJson)
  const errors: { [path: string]: string } = {}
  const others: Array<string> = []
  for (const problem of problems) {
    const [field, text] = [jsonText(problem["field"]), jsonText(problem["message"]) ?? message]
    if (field === undefined || field === "") others.push(text)
    else errors[field] = errors[field] === undefined ? text : `${errors[field]}; ${text}`
  }
  const root = others.length === 0 ? {} : { "root.serverError": others.join("; ") }
  const retryAfter = jsonNumber(Number(response.headers.get("retry-after") ?? Number.NaN))
  return new KernelError(response.status, message, {
    ...members,
    ...Number.isNaN(retryAfter) ? {} : { retry_after: retryAfter },
    // react-admin reads `root` as the error of the form.
    errors: { ...errors, ...root }
  })
}

/** The error of a request that has got no answer. */
export const unanswered = (cause: unknown): KernelError =>
  new KernelError(0, cause instanceof Error ? cause.message : String(cause), { errors: {} }, { cause })

/** The error of what somebody has begun who is not signed in any more. It says nothing of who is. */
export class Superseded extends KernelError {
  constructor() {
    super(401, "ra.auth.auth_check_error")
  }
}
