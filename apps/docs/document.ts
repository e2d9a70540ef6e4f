import { operations } from '../../shared/api/app.ts'
import { openapi } from '../../shared/api/openapi.ts'
import { clockOperations } from '../local/clock.ts'
import { metricsOperation } from '../local/metrics.ts'

/** Operations are described without a look at the world that they run in. */
const nowhere = {} as never

/** The document of an embedded node whose clock stands still: it has every operation that there is. */
export const wholeDocument = (): object =>
  openapi([...operations, metricsOperation(nowhere, nowhere), ...clockOperations(nowhere, nowhere)])
