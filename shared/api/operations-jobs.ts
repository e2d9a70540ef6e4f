import { endJob } from '../engine/job-claims.ts'
import { ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

export const jobOperations = [
  operation({
    name: 'endJob',
    method: 'post',
    audited: false,
    path: '/v1/jobs/{id}/end',
    summary:
      'Hand over what a job that was claimed came to: a check decides its run, a host step goes back to its tool',
    tag: 'Turns',
    body: schemas.jobEnd,
    bodyBytesMax: 1024 * 1024,
    run: async (call, { params, body }) => {
      await endJob(call, params.id!, body)
      return ok({})
    },
  }),
]
