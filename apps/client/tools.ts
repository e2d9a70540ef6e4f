/** A registered tool, as the API shows it. */
export interface RegisteredTool {
  readonly name: string
  readonly description: string
  readonly parameters: object
  readonly readOnly: boolean
  readonly steps: readonly object[]
  readonly output: string | null
  readonly updatedAt: string
  readonly by: string
}

/** What a call of a tool came to. */
export interface ToolAnswer {
  readonly output: unknown
  readonly steps: readonly unknown[]
}
