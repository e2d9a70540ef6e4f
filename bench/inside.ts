/** The child's side of `startScript`: what it was given. */
export const scriptOptions = <T>(): T => JSON.parse(process.argv[2] ?? '{}') as T

/** The child's side of `Child.answer`. */
export const sayToParent = (answer: object): boolean => process.stdout.write(`${JSON.stringify(answer)}\n`)
