/** The texts of the page that react-admin does not have. */
export const english = {
  again: "Try again",
  outdated: "The service has another version of this page now.",
  reload: "Load it again",
  data: "Data",
  unreachable: "The service can't be reached",
  notHere: "There is nothing here, or it isn't yours to see.",
  nothingForYou: "There is nothing here that you may see.",
  print: "Print",
  csv: "Save as CSV, as shown",
  total: "%{smart_count} document |||| %{smart_count} documents",
  sorted: "Sorted by %{field}, %{order}",
  elements: "%{smart_count} entry |||| %{smart_count} entries",
  deleteTitle: "Delete %{name} %{which}",
  signIn: {
    title: "Sign in",
    to: "to the data of %{host}",
    username: "Username",
    password: "Password",
    submit: "Sign in",
    failed: "That did not work. Try it again.",
    language: "Language",
    theme: "Light or dark",
    unfinished:
      "The service has not answered your sign-out, so this browser may still be signed in. It is tried again until the " +
      "service answers: leave this page open.",
    refused: "The service has refused your sign-out, so this browser may still be signed in."
  },
  signOutEverywhere: {
    label: "Sign out everywhere",
    content: "All your sign-ins end, on this machine and on all others.",
    failed: "Your sign-ins may go on, on this machine and on others. Sign in and try it again. %{reason}"
  },
  account: {
    title: "Your account",
    sessions: "Where you are signed in",
    began: "Since %{time}",
    used: "Last renewed %{ago}",
    none: "No sign-in of yours is known here: you have come with other credentials.",
    current: "This one",
    end: "Sign out"
  },
  goTo: {
    label: "Go to…",
    hint: "Type the name of a page",
    pages: "Pages",
    create: "Create",
    new: "New %{name}"
  },
  home: {
    title: "Home",
    greeting: "Your data at a glance",
    models: "Models",
    latest: "Latest changes",
    operations: "Operations",
    checks: { store: "Store", disk: "Disk", migrations: "Migrations", upstreams: "Other services" },
    many: "Many",
    service: "Service",
    noChanges: "Nothing has changed yet.",
    health: "Health",
    failed: "%{count} has failed |||| %{count} have failed",
    moreFailed: "More than %{count} have failed",
    noneFailed: "None has failed",
    // Of the rows that the reader sees: a document may have come from elsewhere, or be there for others.
    changes: {
      insert: "new",
      update: "changed",
      delete: "gone"
    },
    metrics: {
      title: "What the service does",
      requests: "Requests",
      latency: "95 of 100 answered within",
      errors: "Failed requests",
      store: "Mean time of a database operation",
      table: "The numbers as a table",
      time: "Time",
      begin: "Since the start"
    },
    up: "Works",
    down: "Does not work"
  },
  filter: {
    add: "Filter",
    field: "Field",
    operator: "Comparison",
    value: "Value",
    apply: "Apply",
    several: "Enter after each one",
    searchIn: "Search by %{name}",
    logic: "How the conditions combine",
    and: "all of them",
    or: "any of them"
  },
  operators: {
    is: "is",
    isNot: "is not",
    contains: "contains",
    greater: "is more than",
    atLeast: "is at least",
    less: "is less than",
    atMost: "is at most",
    greaterTime: "is after",
    atLeastTime: "is from",
    lessTime: "is before",
    atMostTime: "is until",
    oneOf: "is one of",
    noneOf: "is none of",
    size: "has this many entries:",
    isElement: "has",
    isNotElement: "does not have",
    missing: "has no value",
    present: "has a value"
  },
  live: {
    live: { label: "Live", help: "What others change is shown at once." },
    interrupted: {
      label: "Not live",
      help: "There is no connection at the moment, so that this may be outdated. It is tried again and again."
    },
    ended: {
      label: "No longer live",
      help: "The service does not tell changes any more. Reload the page to try it again."
    },
    entered: "%{smart_count} new row |||| %{smart_count} new rows",
    left: "%{smart_count} row has left |||| %{smart_count} rows have left"
  },
  many: {
    label: "Many at once",
    select: "Select %{name}",
    change: "Change…",
    changeAll: "Change all that match…",
    deleteAll: "Delete all that match…",
    changeTitle: "Change %{name}",
    deleteTitle: "Delete %{name}",
    empty: "Remove what is there",
    preview: "This is about %{smart_count} %{name}.",
    changeCount: "Change %{smart_count} document |||| Change %{smart_count} documents",
    deleteCount: "Delete %{smart_count} document |||| Delete %{smart_count} documents",
    changed: "%{smart_count} document changed |||| %{smart_count} documents changed",
    deleted: "%{smart_count} document deleted |||| %{smart_count} documents deleted",
    changedPart: "Only %{done} of %{count} have been changed.",
    restored: "%{smart_count} document restored |||| %{smart_count} documents restored",
    tooMany: "One change may be of %{limit} at most: filter the list, or choose some.",
    deletedPart: "Only %{done} of %{count} have been deleted."
  },
  tabs: { document: "Document", related: "Related", history: "History", json: "JSON" },
  form: {
    saved: "Saved",
    created: "Created",
    problems: "One field needs another look. |||| %{smart_count} fields need another look.",
    discard: "Discard changes",
    kept: "What you have entered is not saved.",
    unsaved: "Unsaved changes",
    restored: "These are the changes that you had not saved.",
    taken: "There is a document of this identifier.",
    overwrite: "It takes the place of the new document that you have not saved.",
    readOnly: "You may look at this document, and not change it.",
    removePart: "Remove %{name}",
    element: "%{name} %{number}",
    noJson: "This is no valid JSON",
    inexact: "A number has more digits than can be kept here: write it as text, in quotes",
    maxSize: "at most %{size} MB",
    chooseFile: "Choose a file",
    chooseFiles: "Add files"
  },
  conflict: {
    title: "This document has been changed",
    notice: "This document has been changed since you began.",
    compare: "Compare",
    apart: "Different fields are changed here and there. Nothing is lost if you save both.",
    same:
      "One field is changed here and there: choose what is kept. |||| %{smart_count} fields are changed here and there: choose what is kept.",
    mine: "Yours",
    theirs: "Theirs",
    none: "Both are the same.",
    save: "Save what is chosen"
  },
  actions: { run: "Run", done: "Done" },
  related: { all: "All of them", count: "All %{count}" },
  history: {
    earlier: "Earlier changes",
    show: "Show",
    hide: "Hide",
    restore: "Restore this state",
    restoreContent: "The fields of this state are written again, as a new change.",
    restored: "Restored",
    nothing: "Nothing that you see was changed.",
    changes: {
      insert: "created",
      replace: "replaced",
      patch: "changed",
      update: "changed",
      delete: "deleted",
      restore: "restored",
      purge: "removed",
      baseline: "before"
    }
  },
  deleted: {
    label: "Deleted ones",
    without: "not shown",
    include: "shown with the others",
    only: "only these",
    notice: "This document is deleted.",
    restore: "Restore",
    purge: "Remove for good",
    restored: "Restored",
    done: "Deleted",
    forGood: "It is gone for good.",
    canBeRestored: "It can be restored later."
  },
  json: { copy: "Copy", copied: "Copied" }
}
