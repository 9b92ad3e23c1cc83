import type { KernelDataProvider, Page, ResourceDescription } from "@appkernel/react-admin"
import { useQueries } from "@tanstack/react-query"
import { useDataProvider } from "react-admin"
import { newestFirst } from "../columns/order.ts"
import type { Document } from "../data/documents.ts"

/** How many of the newest documents of a model are read. */
export const newestCount = 8

/** What the queries of the newest documents have in common. */
export const newest = "newest"

/**
 * The newest documents of models and their numbers, by one request of each, however many parts of the home show some of it. What is
 * shown after another part, with `isShared`, takes what that one has read.
 */
export const useNewest = (resources: ReadonlyArray<ResourceDescription>, isShared = false) => {
  // React-admin's leads to the sign-in when it is over.
  const dataProvider = useDataProvider<KernelDataProvider>()
  return useQueries({
    queries: resources.map((resource) => ({
      queryKey: [resource.name, newest],
      // They are few, and a timer for each that is no longer shown takes its time.
      gcTime: Infinity,
      refetchOnMount: !isShared,
      queryFn: (): Promise<Page<Document>> =>
        dataProvider.getList<Document>(resource.name, {
          pagination: { page: 1, perPage: newestCount },
          sort: newestFirst(resource)
        })
    }))
  })
}
