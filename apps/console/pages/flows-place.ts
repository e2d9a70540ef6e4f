import { path } from '../api.ts'

/** Where one flow is shown. */
export const flowPlace = (agent: string, name: string): string => path`/flows/${agent}/${name}`
