import { useQueryClient } from "@tanstack/react-query"
import { useNotify, useTranslate } from "react-admin"
import { useConnection } from "../data/Description.tsx"
import { isSignedOut } from "../data/retry.ts"
import { sentenceOf } from "../data/sentences.ts"

/** Takes deletions back, one after the other. Answers the identifiers of those that are still deleted, of which it says why. */
export const useRestore = (name: string) => {
  const translate = useTranslate()
  const notify = useNotify()
  const client = useQueryClient()
  const { dataProvider } = useConnection()
  return async (ids: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
    const left: Array<string> = []
    let problem: unknown
    for (const id of ids) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- each is a request of its own
      await dataProvider.restore(name, id).catch((error: unknown) => {
        problem ??= error
        left.push(id)
      })
      if (isSignedOut(problem)) return left
    }
    await client.invalidateQueries({ queryKey: [name] })
    if (left.length < ids.length) {
      notify("explorer.many.restored", {
        type: "success",
        messageArgs: { smart_count: ids.length - left.length }
      })
    }
    if (left.length > 0) notify(sentenceOf(problem, translate), { type: "error" })
    return left
  }
}
