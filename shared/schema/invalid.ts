/** It is no schema that arguments can be checked against. */
export class SchemaInvalid extends Error {
  /** Inside the schema, with dots; empty for all of it. */
  readonly path: string
  readonly detail: string
  constructor(path: string, detail: string) {
    super(`${path === '' ? '' : `${path}: `}${detail}`)
    this.name = 'SchemaInvalid'
    this.path = path
    this.detail = detail
  }
}
