/** One line of docs/benchmarks.md: ours beside a peer, taken interleaved in one run. */
export interface Cell {
  name: string
  ours: number
  peer: number | null
  unit: string
  ratio: number | null
  met: boolean | null
}

export interface RowResult {
  cells: Cell[]
  met: boolean
  aimMet: boolean | null
  summary: string
  notes: string[]
  /** What the README says of it, between its marks. */
  readme?: string
}

export interface Row {
  id: string
  what: string
  peer: string
  gate: string
  aim: string | null
  measure(): Promise<RowResult>
}
