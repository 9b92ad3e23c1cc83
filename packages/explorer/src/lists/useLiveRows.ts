import { useEffect, useRef, useState } from "react"
import { useListContext } from "react-admin"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { type Document, isSame } from "../data/documents.ts"

/** What happens in a list while somebody looks at it. */
export interface LiveRows {
  /** How it follows the changes of its model: not or not yet, now, not at the moment, no longer. */
  readonly is: "still" | "live" | "interrupted" | "ended"
  /** The rows that somebody has just written. */
  readonly touched: ReadonlySet<string>
  /** How many rows have come into what is shown, and how many have left it. */
  readonly entered: number
  readonly left: number
}

const still: Omit<LiveRows, "is"> = { touched: new Set(), entered: 0, left: 0 }

/** How long a row is lit, and how long several changes are gathered before the list is asked for again. */
const litFor = 4_000
const gatherFor = 250

/** Asks for the list again when something of its model has changed, and says what that did to the rows. */
export const useLiveRows = (): LiveRows => {
  const { dataProvider } = useConnection()
  const { may, name } = useDescribed()
  const { data, filterValues, isPlaceholderData, page, perPage, refetch, sort } = useListContext<Document>()
  const [is, setIs] = useState<LiveRows["is"]>("still")
  const [state, setState] = useState(still)
  const query = JSON.stringify([name, filterValues, page, perPage, sort])
  const seen = useRef<{ readonly query: string; readonly rows: ReadonlyArray<Document> }>(undefined)
  const again = useRef(refetch)
  useEffect(() => {
    again.current = refetch
  }, [refetch])

  useEffect(() => {
    if (!may.watch) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void again.current()
      }, gatherFor)
    }
    const stop = dataProvider.watch(name, read, {
      onConnection: (isConnected) => {
        setIs(isConnected ? "live" : "interrupted")
        // What was written while nothing was told.
        if (isConnected) read()
      },
      onEnd: () => setIs("ended")
    })
    return () => {
      clearTimeout(timer)
      stop()
      setIs("still")
    }
  }, [dataProvider, may.watch, name])

  useEffect(() => {
    // While another page or filter is asked for, the rows are those of the one before.
    if (data === undefined || isPlaceholderData === true) return
    const before = seen.current
    seen.current = { query, rows: data }
    if (before === undefined || before.query !== query || before.rows === data) return
    const earlier = new Map(before.rows.map((row) => [row.id, row]))
    const entered = data.filter(({ id }) => !earlier.has(id))
    const left = before.rows.filter(({ id }) => !data.some((row) => row.id === id))
    const changed = data.filter((row) => earlier.has(row.id) && !isSame(earlier.get(row.id), row))
    if (entered.length + left.length + changed.length === 0) return
    setState({
      touched: new Set([...entered, ...changed].map(({ id }) => id)),
      entered: entered.length,
      left: left.length
    })
  }, [data, isPlaceholderData, query])

  useEffect(() => {
    if (state === still) return undefined
    const timer = setTimeout(() => setState(still), litFor)
    return () => clearTimeout(timer)
  }, [state])

  return { ...state, is }
}
