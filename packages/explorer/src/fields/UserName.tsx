import { useGetIdentity } from "react-admin"
import { useService } from "../data/Description.tsx"
import { ReferenceLink } from "./ReferenceLink.tsx"

/** Who an identifier of a user is, as far as the reader sees it: themselves, or a document of the model that people sign in by. */
export const UserName = ({ id }: { readonly id: string }) => {
  const { identity } = useGetIdentity()
  const { resources } = useService()
  // The service does not say which model it is: that which has passwords.
  const accounts = resources.find(({ fields, may }) => may.list && fields.some(({ name }) => name === "password"))
  if (identity?.id === id) return <bdi title={id}>{identity.fullName ?? id}</bdi>
  return accounts === undefined ? <bdi>{id}</bdi> : <ReferenceLink resource={accounts.name} id={id} />
}
