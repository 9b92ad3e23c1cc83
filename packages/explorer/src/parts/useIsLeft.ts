import { type RefObject, useEffect, useRef } from "react"

/** Whether somebody has left what is shown, for what arrives later. */
export const useIsLeft = (): RefObject<boolean> => {
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
    }
  }, [])
  return isLeft
}
