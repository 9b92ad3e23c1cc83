import type { ActionDescription } from "@appkernel/react-admin"
import { useService } from "../data/Description.tsx"

/** The operations of the service that list the sign-ins of the caller and end one; `undefined` where it has none. */
export const useSessionOperations = (): { readonly list: string; readonly end: string } | undefined => {
  const { operations } = useService()
  const at = (method: string, end: string): ActionDescription | undefined =>
    operations.find((operation) => operation.method === method && operation.path.endsWith(`/token/sessions${end}`))
  const [list, end] = [at("GET", ""), at("DELETE", "/{id}")]
  return list === undefined || end === undefined ? undefined : { list: list.name, end: end.name }
}
