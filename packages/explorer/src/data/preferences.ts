import { localStorageStore, memoryStore, type Store } from "react-admin"
import { narrow } from "../theme.ts"

const isPreference = (key: string): boolean =>
  key === "theme" || key === "locale" || key === "sidebar.open" || /\.datatable(?:_columnRanks)?$/u.test(key)

/**
 * Keeps what somebody prefers in the browser: theme, language, columns. Filters and selections hold what the documents hold, so
 * they are in memory, and gone with the page. A sign-out leaves both: the next one to sign in sees no data in them.
 */
export const preferences = (): Store => {
  const kept = localStorageStore("1", "appkernel-explorer")
  const passing = memoryStore()
  // On a narrow screen the menu covers the page: that it is open is no preference.
  const screen = matchMedia(narrow)
  const isPassing = (key: string): boolean => key === "sidebar.open" ? screen.matches : !isPreference(key)
  const of = (key: string): Store => isPassing(key) ? passing : kept
  return {
    setup: () => {
      kept.setup()
      passing.setup()
    },
    teardown: () => {
      kept.teardown()
      passing.teardown()
    },
    getItem: (key, byDefault) => of(key).getItem(key, byDefault),
    setItem: (key, value) => of(key).setItem(key, value),
    removeItem: (key) => of(key).removeItem(key),
    removeItems: (prefix) => {
      kept.removeItems(prefix)
      passing.removeItems(prefix)
    },
    reset: () => passing.reset(),
    subscribe: (key, onChange) => of(key).subscribe(key, onChange),
    listItems: (prefix) => ({ ...passing.listItems?.(prefix), ...kept.listItems?.(prefix) })
  }
}
