export { CelFault, CelInvalid, type FaultReason } from './errors.ts'
export { compileCel, type Data, holds, type Program } from './program.ts'
export { compileTemplate, type Template } from './template.ts'
export type { Json } from './values.ts'
