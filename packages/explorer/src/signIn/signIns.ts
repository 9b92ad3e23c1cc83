/** Tells the other pages of the explorer in this browser, which share its cookie, that somebody has signed in. */
export const signIns = new BroadcastChannel(
  `appkernel-explorer ${globalThis.location.pathname.replace(/\/$/u, "")}`
)
