import * as z from 'zod'
import { type AuditRow, listAudit } from '../engine/audit.ts'
import { formatInstant } from '../time/index.ts'
import { cursorIn, list } from './cursors.ts'
import { ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

export const auditOperations = [
  operation({
    name: 'listAudit',
    method: 'get',
    path: '/v1/audit',
    summary: "What was done in the person's name and to their agents and schedules, newest first, for a year",
    tag: 'Audit',
    query: z.strictObject(schemas.page),
    run: async (call, { query }) => {
      const before = cursorIn(query.cursor, /^[0-9A-Z]{26}$/)
      const { items, next } = await listAudit(call, { limit: query.limit, before })
      return ok(list(items.map(shown), next))
    },
  }),
]

const shown = (row: AuditRow) => ({
  id: row.id,
  at: formatInstant(row.at),
  by: { kind: row.by, id: row.who, key: row.key, session: row.session },
  principal: row.principal,
  operation: row.operation,
  targets: row.targets,
  status: row.status,
})
