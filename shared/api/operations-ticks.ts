import * as z from 'zod'
import { parkTicks, type TicksView, viewTicks } from '../engine/tick-calls.ts'
import { formatInstant } from '../time/index.ts'
import { ok, operation } from './operation.ts'

const tag = 'Ticks'

const shown = (view: TicksView) => ({
  state: view.state,
  reason: view.reason,
  nextAt: view.nextAt === null ? null : formatInstant(view.nextAt),
  today: view.today,
  windowUntil: view.windowUntil === null ? null : formatInstant(view.windowUntil),
})

export const tickOperations = [
  operation({
    name: 'getTicks',
    method: 'get',
    path: '/v1/sessions/{id}/ticks',
    summary: 'Whether and when the idle session wakes itself, and what it waits for',
    tag,
    run: async (call, { params }) => ok(shown(await viewTicks(call, params.id!))),
  }),
  operation({
    name: 'parkTicks',
    method: 'post',
    path: '/v1/sessions/{id}/ticks/park',
    summary: 'No tick until a person writes in the session; one that waits is dropped',
    tag,
    body: z.strictObject({ reason: z.enum(['parked', 'cancelled']).optional() }),
    bodyOptional: true,
    run: async (call, { params, body }) => ok(shown(await parkTicks(call, params.id!, body.reason))),
  }),
]
