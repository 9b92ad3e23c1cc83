import { useListContext } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { type Document, isDeletedIn } from "../data/documents.ts"

/** Which rows of a list can be chosen, and what for: those that are deleted to be restored, in a list of them alone. */
export const useSelection = () => {
  const resource = useDescribed()
  const { filterValues } = useListContext()
  const { may } = resource
  const isOfDeleted = resource.isSoftDeleted && filterValues["$deleted"] === "only"
  return {
    isOfDeleted,
    hasBulk: isOfDeleted ? may.restore : may.delete || may.deleteMany || may.update || may.updateMany,
    isSelectable: (document: Document) => isOfDeleted || !isDeletedIn(resource, document)
  }
}
