import { Authenticated, Resource } from "appkernel"
import { Project } from "./models/Project.ts"

export const Projects = Resource.make(Project, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  // Everybody who has signed in reaches their own projects, and no others.
  .grant(Authenticated, { rows: (me) => ($) => $.owner.equals(me.subject) })
