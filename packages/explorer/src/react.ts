/** React, which is evaluated before what is made of it, so that the browser answers between them. */
export { createRoot } from "react-dom/client"
