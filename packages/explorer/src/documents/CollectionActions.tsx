import type { ActionDescription } from "@appkernel/react-admin"
import { Button } from "@mui/material"
import { useState } from "react"
import { useListContext } from "react-admin"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

/** The actions of a collection. */
export const CollectionActions = () => {
  const { dataProvider } = useConnection()
  const { actions, name } = useDescribed()
  const { refetch } = useListContext()
  const [action, setAction] = useState<ActionDescription>()
  return (
    <>
      {actions.filter(({ on }) => on === "collection").map((one) => (
        <Button
          key={one.name}
          color={one.isDestructive ? "error" : "primary"}
          onClick={() => setAction(one)}
        >
          {one.label}
        </Button>
      ))}
      {action !== undefined && (
        <ActionDialog
          action={action}
          run={(args) => dataProvider.runAction(name, action.name, undefined, args)}
          onClose={() => setAction(undefined)}
          onDone={() => void refetch()}
        />
      )}
    </>
  )
}
