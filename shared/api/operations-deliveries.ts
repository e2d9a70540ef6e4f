import * as z from 'zod'
import { type DeliveryView, listDeliveries, retryDelivery } from '../engine/deliveries.ts'
import { formatInstant } from '../time/index.ts'
import { cursorIn, list } from './cursors.ts'
import { accepted, ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

const tag = 'Schedules'
const placeShape = /^V#[0-9A-Z]{26}#\d{1,2}$/

/** A target's address is shown as it was given, to those who may use the schedule. */
const shown = ({ id, run, at, sending }: DeliveryView) => ({
  id,
  run,
  to: sending.to,
  status: sending.status,
  tries: sending.tries,
  nextTryAt: sending.nextAt === null ? null : formatInstant(sending.nextAt),
  lastError: sending.error,
  at: formatInstant(at),
})

export const deliveryOperations = [
  operation({
    name: 'listDeliveries',
    method: 'get',
    path: '/v1/schedules/{id}/deliveries',
    summary: 'What the ends of the runs sent out, to whom, and what was given up, newest first',
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { params, query }) => {
      const before = cursorIn(query.cursor, placeShape)
      const { items, next } = await listDeliveries(call, params.id!, { limit: query.limit, before })
      return ok(list(items.map(shown), next))
    },
  }),
  operation({
    name: 'retryDelivery',
    method: 'post',
    path: '/v1/schedules/{id}/deliveries/{delivery}/retry',
    summary: 'Send once more what was given up, or at once what waits; the receiver sees the same id',
    tag,
    body: schemas.nothing,
    bodyOptional: true,
    statuses: [202],
    run: async (call, { params }) => accepted(shown(await retryDelivery(call, params.id!, params.delivery!))),
  }),
]
