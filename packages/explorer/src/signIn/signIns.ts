/** Tells the other pages of the explorer in this browser, which share its cookie, that somebody has signed in. */
export const signIns = new BroadcastChannel(
  `appkernel-explorer ${globalThis.location.pathname.replace(/\/$/u, "")}`
)

/** Tells this page that a sign-in has ended without a sign-out of it. */
export const signedOut = new EventTarget()
