/** The path without the names of its parameters, which may differ between the methods of a path. */
export const shapeOf = (path: `/${string}`): `/${string}` => {
  let count = 0
  return `/${path.slice(1).replaceAll(/:[^/]*/gu, () => `:${count++}`)}`
}
