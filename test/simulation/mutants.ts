import type { Planted } from './bundle.ts'

/** A fault that the simulation has to find. The text must stand in the file exactly once: what was changed there is planted anew. */
export interface Mutant extends Planted {
  readonly what: string
}

export const mutants: readonly Mutant[] = [
  {
    what: 'a lost conflict: a cursor is written whatever stands there',
    file: 'shared/engine/rows.ts',
    text: '    put: key,\n    item: encodeCursor(cursor),\n    expect,',
    instead: "    put: key,\n    item: encodeCursor(cursor),\n    expect: expect === 'absent' ? expect : 'any',",
  },
  {
    what: 'a missed dedupe: a prompt that is taken stays open as if it waited',
    file: 'shared/engine/inbox.ts',
    text: '(run.row === open.row ? { ...run, turn } : run)',
    instead: '(run.row === open.row ? { ...run } : run)',
  },
  {
    what: 'a message that is taken stays in the inbox',
    file: 'shared/engine/inbox.ts',
    text: 'ops: [leave(candidate.row), putHistory(conv, message, now)]',
    instead: 'ops: [putHistory(conv, message, now)]',
  },
  {
    what: 'an off-by-one in the window: one monitor more than fits is armed',
    file: 'shared/engine/monitors.ts',
    text: 'live.length >= limits.monitorsPerSession)',
    instead: 'live.length > limits.monitorsPerSession)',
  },
  {
    what: 'an off-by-one in the day: one event more than may go out',
    file: 'shared/domain/limits.ts',
    text: 'monitorFiresPerDay: 20',
    instead: 'monitorFiresPerDay: 21',
  },
  {
    what: 'a schedule fires past the end of its rule',
    file: 'shared/domain/due.ts',
    text: 'definition.until !== null && next > definition.until ? null : next',
    instead: 'definition.until !== null && next > definition.until + 3_600_000 ? null : next',
  },
  {
    what: 'maxRuns lets one more go',
    file: 'shared/domain/due.ts',
    text: 'definition.maxRuns !== null && after.fires >= definition.maxRuns',
    instead: 'definition.maxRuns !== null && after.fires > definition.maxRuns',
  },
  {
    what: 'a prompt joins one that waits',
    file: 'shared/domain/due.ts',
    text: "if (cursor.open.some((run) => run.turn === null)) return { skip: 'previous_waiting', cancel: [] }",
    instead: '',
  },
  {
    what: 'overlap skip is not heeded',
    file: 'shared/domain/due.ts',
    text: "    case 'skip':\n      return { skip: 'previous_running', cancel: [] }",
    instead: "    case 'skip':\n      return none",
  },
  {
    what: 'the jitter is left out',
    file: 'shared/domain/due.ts',
    text: 'return nominal + jitterOf({',
    instead: 'return nominal + 0 * jitterOf({',
  },
  {
    what: 'a lease runs out before its time',
    file: 'shared/domain/session.ts',
    text: 'turn.leaseUntil <= now',
    instead: 'turn.leaseUntil - 45_000 <= now',
  },
  {
    what: 'the gate of an agent that left stays open',
    file: 'shared/domain/admit.ts',
    text: 'closed: (s) => s.left }',
    instead: 'closed: () => false }',
  },
  {
    what: 'a missed stretch is counted one short',
    file: 'shared/domain/due.ts',
    text: 'missed: missed ? s.due : 0,',
    instead: 'missed: missed ? s.due - 1 : 0,',
  },
  {
    what: 'a wake draws nothing on its budget',
    file: 'shared/engine/budgets.ts',
    text: 'drawn.wakes += what.wakes ?? 0',
    instead: 'drawn.wakes += 0',
  },
  {
    what: 'what is held goes out, and is held still',
    file: 'shared/domain/held.ts',
    text: 'const after: Cursor = { ...cursor, held: null, counts, open:',
    instead: 'const after: Cursor = { ...cursor, counts, open:',
  },
  {
    what: 'what a check failed at goes uncounted when its schedule ends',
    file: 'shared/engine/closing.ts',
    text: 'item.held === null ? told.cursor : leftOut(told.cursor)',
    instead: '{ ...told.cursor, held: null }',
  },
  {
    what: 'a paused schedule whose held run was denied stays due',
    file: 'shared/domain/held.ts',
    text: '{ ...after, dueAt: null }\n}',
    instead: 'after\n}',
  },
  {
    what: 'times that passed are forgotten when a failed check pauses',
    file: 'shared/domain/check.ts',
    text: "stopped({ ...o, cursor: free }, 'paused', 'failures') : { cursor: free, rows: [] }",
    instead: "{ ...stopped({ ...o, cursor: free }, 'paused', 'failures'), rows: [] } : { cursor: free, rows: [] }",
  },
  {
    what: 'each alarm of a watched tool that comes twice leaves another',
    file: 'shared/engine/monitor-tools.ts',
    text: '  if (dueAt > now) return null\n',
    instead:
      "  if (dueAt > now) await hint(world, () => world.alarms.set({ kind: 'monitor', id }, dueAt))\n  if (dueAt > now) return null\n",
  },
  {
    what: 'a step that nobody heard of is done again',
    file: 'shared/domain/replay.ts',
    text: "if (record?.readOnly !== true) return outcomeUnknown(look, 'Rouse broke off while it was called')",
    instead: '',
  },
]
