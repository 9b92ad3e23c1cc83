import { type ComponentType, lazy } from "react"
import { Button, useTranslate } from "react-admin"

const pages: Array<() => Promise<unknown>> = []

/** A page, or a part of one, that is loaded when it is first shown, or when there is nothing else to do. */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  let loading: Promise<{ readonly default: ComponentType<Props> }> | undefined
  const once = () => loading ??= load().then((page) => ({ default: page }), () => ({ default: Outdated }))
  pages.push(once)
  return lazy(once)
}

/** Loads what somebody may go to, one after the other, while the browser has nothing else to do. */
export const loadAll = (): void => {
  const [load] = pages.splice(0, 1)
  if (load === undefined) return
  whenIdle(() => {
    void load().then(loadAll)
  })
}

/** Runs something when the browser has nothing else to do. */
export const whenIdle = (run: () => void): void => {
  // Not every browser says when that is.
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: 2_000 })
  else setTimeout(run, 500)
}

/** After an update of the service, an open page may ask for a file that is gone. */
const Outdated = () => {
  const translate = useTranslate()
  return (
    <div role="alert">
      <p>{translate("explorer.outdated")}</p>
      <Button label="explorer.reload" onClick={() => globalThis.location.reload()} />
    </div>
  )
}
