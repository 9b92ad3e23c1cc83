/** What somebody has entered and not saved. */
export interface Draft {
  /** The document that it began with. */
  readonly base: { readonly [field: string]: unknown }
  readonly values: { readonly [field: string]: unknown }
}

/** What the draft of a new document is kept by: no other one has it, whatever its identifier is. */
export const newKey = (resource: string): string => resource

const drafts = new Map<string, Draft>()

/** What was entered is kept while the page is open, also through a sign-out: in memory, as documents belong nowhere else. */
export const draftOf = (key: string): Draft | undefined => drafts.get(key)

export const keepDraft = (key: string, draft: Draft | undefined): void => {
  if (draft === undefined) drafts.delete(key)
  else drafts.set(key, draft)
}

let owner: string | undefined

/** Says who is signed in: what somebody else has entered is not theirs. */
export const keepDraftsOf = (user: string): void => {
  if (owner !== undefined && owner !== user) drafts.clear()
  owner = user
}

export const hasDrafts = (): boolean => drafts.size > 0
