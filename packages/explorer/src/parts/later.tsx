import { Alert, Button, Dialog } from "@mui/material"
import { type ComponentType, use, useEffect, useEffectEvent, useState } from "react"
import { useTranslate } from "react-admin"

const pages: Array<() => Promise<unknown>> = []

/** A part that was loaded, or why it was not. */
type Loaded<Props> = { readonly Part: ComponentType<Props> } | { readonly isGone: boolean }

/**
 * A page, or a part of one, that is loaded when it is first shown, or when there is nothing else to do. One that could not be loaded
 * then is tried again when it is shown. What somebody closes, which has an `onClose`, is closed without it as well.
 */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  let loading: Promise<ComponentType<Props>> | undefined
  const once = () =>
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
  pages.push(once)
  let shown: Promise<Loaded<Props>> | undefined
  const show = () => shown ??= once().then((Part) => ({ Part }), async (error) => ({ isGone: await isGone(error) }))
  const forget = (showing: Promise<Loaded<Props>>) => {
    if (shown === showing) shown = undefined
  }
  const Later = (props: Props) => {
    const [, setTries] = useState(0)
    const showing = show()
    const loaded = use(showing)
    if ("Part" in loaded) return <loaded.Part {...props} />
    const again = () => {
      forget(showing)
      setTries((tries) => tries + 1)
    }
    const notice = <NotLoaded isGone={loaded.isGone} onRetry={again} onLeave={() => forget(showing)} />
    if (!("onClose" in props) || typeof props.onClose !== "function") return notice
    const { onClose } = props
    return <Dialog open onClose={() => onClose()}>{notice}</Dialog>
  }
  return Later
}

/** Loads what somebody may go to, one after the other, while the browser has nothing else to do. */
export const loadAll = (): void => {
  const [load] = pages.splice(0, 1)
  if (load === undefined) return
  whenIdle(() => {
    // What fails is loaded, or said to have failed, when it is shown.
    void load().catch(() => undefined).then(loadAll)
  })
}

/** Runs something when the browser has nothing else to do. */
export const whenIdle = (run: () => void): void => {
  // Not every browser says when that is.
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: 2_000 })
  else setTimeout(run, 500)
}

/** What somebody does who uses a page. */
const uses = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"] as const

/**
 * Begins something when somebody uses the page, or some seconds after it was loaded: what goes on for as long as the page is open does
 * not take the place of what is needed to show it. The result ends it, and what has not begun does not begin.
 */
export const whenUsed = (begin: () => () => void): () => void => {
  // Not every browser knows it.
  if ("userActivation" in navigator && navigator.userActivation.hasBeenActive) return begin()
  const waiting = new AbortController()
  let end: (() => void) | undefined
  const now = () => {
    waiting.abort()
    end = begin()
  }
  const timer = setTimeout(now, 8_000)
  waiting.signal.addEventListener("abort", () => clearTimeout(timer))
  for (const use of uses) globalThis.addEventListener(use, now, { passive: true, signal: waiting.signal })
  return () => {
    waiting.abort()
    end?.()
  }
}

/** Whether a file is gone, as after an update of the service. Not every browser names it in its error. */
const isGone = async (error: unknown): Promise<boolean> => {
  const [url] = /https?:\/\/\S+\.js/u.exec(String(error)) ?? []
  if (url === undefined) return false
  return fetch(url).then(({ status }) => status === 404, () => false)
}

interface NotLoadedProps {
  readonly isGone: boolean
  readonly onRetry: () => void
  readonly onLeave: () => void
}

const NotLoaded = ({ isGone, onLeave, onRetry }: NotLoadedProps) => {
  const translate = useTranslate()
  // Whoever comes back tries it again.
  const leave = useEffectEvent(onLeave)
  useEffect(() => () => leave(), [])
  const reload = <Button onClick={() => globalThis.location.reload()}>{translate("explorer.reload")}</Button>
  return (
    <Alert
      severity="warning"
      action={isGone ? reload : (
        <>
          <Button onClick={onRetry}>{translate("explorer.again")}</Button>
          {reload}
        </>
      )}
    >
      {translate(isGone ? "explorer.outdated" : "explorer.unreachable")}
    </Alert>
  )
}
