import { KernelError } from "@appkernel/react-admin"

/** How often something is asked again, of a service that has no time or no connection. */
const times = 4

const isBusy = (error: unknown): boolean =>
  error instanceof KernelError && [0, 429, 502, 503, 504].includes(error.status)

/** Whether the service tells this to somebody else only, or to nobody: asking again has no use. */
export const isRefused = (error: unknown): boolean =>
  error instanceof KernelError && [401, 403, 404].includes(error.status)

/** Whether nobody is signed in any more, which the form to sign in says. */
export const isSignedOut = (error: unknown): boolean => error instanceof KernelError && error.status === 401

/** Whether what is asked for is not there, or no longer. */
export const isMissing = (error: unknown): boolean =>
  error instanceof KernelError && [404, 410, 412].includes(error.status)

/** Whether nobody knows what became of a request. */
export const isUnanswered = (error: unknown): boolean => error instanceof KernelError && error.status === 0

/** Whether the service does not do this, however often it is asked. */
export const isFinal = (error: unknown): boolean =>
  error instanceof KernelError && error.status >= 400 && error.status < 500 && error.status !== 429

/** Whether there is no connection, or the service fails. */
export const isDown = (error: unknown): boolean =>
  error instanceof KernelError && (error.status === 0 || error.status >= 500)

/** Whether a failed read is worth another try: not one that the service has refused. */
export const retry = (failures: number, error: unknown): boolean => failures < times && isBusy(error)

/** How long to wait before it, in milliseconds: as the service says. */
export const retryDelay = (failures: number, error: unknown): number => {
  const asked = error instanceof KernelError ? Number(error.body["retry_after"] ?? 0) * 1_000 : 0
  return Math.max(asked, Math.min(500 * 2 ** failures, 5_000))
}

/** Reads what no query reads, with the same patience. */
export const patiently = async <A>(read: () => Promise<A>, failures = 0): Promise<A> => {
  try {
    return await read()
  } catch (error) {
    if (!retry(failures, error)) throw error
    await new Promise((resolve) => {
      setTimeout(resolve, retryDelay(failures, error))
    })
    return patiently(read, failures + 1)
  }
}
