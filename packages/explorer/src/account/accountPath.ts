/** Beside the paths of resources, whose names are those of members of clients: no resource is hidden by the page. */
export const accountPath = "/~account"
