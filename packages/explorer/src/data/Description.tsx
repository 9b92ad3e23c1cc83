import type { KernelConnection, ResourceDescription, ServiceDescription } from "@appkernel/react-admin"
import { createContext, type ReactNode, useContext, useMemo } from "react"
import { useResourceContext } from "react-admin"

interface Said {
  readonly connection: KernelConnection
  readonly service: ServiceDescription
}

const Context = createContext<Said | undefined>(undefined)

/** Gives the page below what the service says of itself to whoever is signed in. */
export const DescriptionProvider = ({ children, connection, service }: Said & { readonly children: ReactNode }) => (
  <Context value={useMemo(() => ({ connection, service }), [connection, service])}>{children}</Context>
)

const useSaid = (): Said => {
  const said = useContext(Context)
  if (said === undefined) throw new Error("Nobody is signed in")
  return said
}

export const useService = (): ServiceDescription => useSaid().service

export const useConnection = (): KernelConnection => useSaid().connection

/** The resource of that name, or that of the page. */
export const useDescribed = (name?: string): ResourceDescription => {
  const here = useResourceContext()
  const { resources } = useService()
  const wanted = name ?? here
  const found = resources.find((resource) => resource.name === wanted)
  if (found === undefined) throw new Error(`There is no ${wanted}`)
  return found
}
