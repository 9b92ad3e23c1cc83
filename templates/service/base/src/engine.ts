import { KernelEngine } from "appkernel"
import { Project } from "./models/Project.ts"
import { Tasks } from "./Tasks.ts"

export const engine = KernelEngine.make("my-service")
  .register(Project, { methods: ["GET", "POST", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Tasks, { urlBase: "/api/v1" })
  .enableOpenApi({ title: "my-service", version: "0.1.0" })
  // A page for documents, at /explorer.
  .enableExplorer()
