import { useGetManyAggregate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { nameOf } from "../data/documents.ts"

/** What names the document that a value refers to, without a link. */
export const ReferenceName = ({ id, resource }: { readonly resource: string; readonly id: string }) => {
  const described = useDescribed(resource)
  const { data } = useGetManyAggregate(resource, { ids: [id] }, {
    enabled: described.may.get || described.may.list
  })
  const [document] = data ?? []
  return <bdi>{document === undefined ? id : nameOf(described, document)}</bdi>
}
