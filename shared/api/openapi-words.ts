/** Words of openapi.json that stand in no schema. */

export const about = `Wakes AI agents: schedules, monitors and triggers whose prompts reach the inbox of an agent's session when due.

A key belongs to a person or to an agent and travels as \`Authorization: Bearer <key>\`. An agent acts in a session of its own, named in \`X-Rouse-Session\`, and inside a turn in \`X-Rouse-Turn\`. What a caller may not see is 404, as if it did not exist.

Errors are RFC 9457 \`application/problem+json\`; \`code\` is the stable word to switch on. Lists take \`limit\` and \`cursor\`, and answer \`{data, nextCursor}\`. Unknown fields are refused. Creating POSTs honour \`Idempotency-Key\`.

Each key has a bucket of calls, 20,000 deep and filled with 1,000 a second unless the operator says otherwise. Every answer to a key says where it stands, as draft-ietf-httpapi-ratelimit-headers has it: \`RateLimit-Policy: "default";q=20000;w=20\` (the calls at once, and the seconds in which as many come back) and \`RateLimit: "default";r=19999;t=1\` (the calls left, and the seconds until there is one more). A call too many is 429 \`rate_limited\` with \`Retry-After\` in seconds; it has done nothing.`

export const tags: Readonly<Record<string, string>> = {
  Schedules: 'A prompt or a flow, and the times at which it runs; the ledger of what became of each time.',
  Triggers: 'Like a schedule, with something that happens in place of times: a document that changes, a webhook.',
  Ticks: 'How an idle session wakes itself.',
  Monitors: 'Waits for one thing, and says so once in the session it was armed for.',
  Sessions: 'Conversations of an agent: their inbox, history and state.',
  Turns: 'What a worker calls: take a message, keep its lease, end the turn.',
  'Agents and people': 'Who there is, and what agents may do.',
  Settings: 'What holds for the whole deployment.',
  Feed: "A person's cards: what agents post, ask and could not do.",
  Documents: 'JSON and text that agents and people keep, and that monitors and triggers watch.',
  Budgets: 'What a day allows, has used and has left.',
  Keys: 'Keys of people and agents. Each is shown once.',
  Secrets: 'Values that steps of tools use in the name of their person. They come in and never go out.',
  Audit: 'Who did what to what, for a year.',
  Tools: 'Steps that Rouse takes itself when an agent, a monitor or a flow calls them.',
  'Traces and flows': 'What agents did, call by call; and flows, which do it again without a model.',
  Agenda: 'Everything that will wake somebody, as JSON and as a calendar.',
  Clock: 'Only on an embedded node that was started with `--clock`.',
  Metrics: 'What an embedded node counts.',
  Doors: 'What other programs than clients of the API call.',
}

const parameters: Readonly<Record<string, string>> = {
  id: 'The id, as it was answered: a prefix and a ULID.',
  name: 'The name.',
  path: 'The path; it may hold `/`.',
  group: 'The name of the group; it may hold `/`.',
  delivery: 'The id of the delivery.',
  limit: 'How many at most.',
  cursor: '`nextCursor` of the page before.',
  agent: 'Only those of this agent.',
  session: 'Only those of this session.',
  createdIn: 'Only those made in this session.',
  status: 'Only those of this status.',
  outcome: 'Only those that ended so.',
  project: 'Only those of this project.',
  label: 'Only cards with this label.',
  hours: 'How far to look ahead.',
  meta: '`true`: what there is to say about the document, not the document.',
}
export const parameterWords = (name: string): string => parameters[name] ?? `The ${name}.`

const agent = 'agt_01KJQZ8M00000000000000000A'
const session = 'ses_01KJQZ8M00000000000000000B'
const trace = 'trc_01KJQZ8M0000000000000000'

/** Of the bodies that are sent most. */
export const examples: Readonly<Record<string, unknown>> = {
  createSchedule: {
    name: 'Morning brief',
    agent,
    prompt: 'Write the brief.',
    cron: '0 8 * * 1-5',
    tz: 'Europe/Amsterdam',
  },
  editSchedule: { cron: '30 8 * * 1-5' },
  previewSchedule: { rrule: 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0', tz: 'America/New_York', count: 5 },
  pauseSchedule: { reason: 'holidays' },
  backfillSchedule: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
  createTrigger: {
    name: 'New order',
    agent,
    prompt: 'Look at the order.',
    on: { document: { prefix: 'orders/' } },
    settle: '30s',
  },
  createMonitor: {
    session,
    note: 'The build is done: tell me.',
    watch: { document: { path: 'builds/42' } },
    when: 'doc.status == "done"',
  },
  createAgent: { name: 'assistant', proactive: { enabled: false }, budget: { wakesPerDay: 50 } },
  createPerson: { name: 'Anna', tz: 'Europe/Amsterdam' },
  createSession: { agent, title: 'Invoices' },
  sendMessage: { text: 'What is open this week?' },
  claimSession: { wait: 20, leaseSeconds: 120 },
  claimAgent: { wait: 20, leaseSeconds: 120 },
  heartbeat: { wait: 20 },
  endTurn: { outcome: 'ok', answer: 'Three invoices are open.', tokens: 1200 },
  postCard: { title: 'Invoice 1207 is overdue', label: 'money', group: 'Morning brief 2 Mar', loop: 'invoice-1207' },
  putDocument: { status: 'done' },
  putSecret: { value: 'correct horse battery staple' },
  putTool: {
    description: 'The rate of a currency',
    parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
    readOnly: true,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how it is written
    steps: [{ http: { method: 'GET', url: 'https://rates.example/${args.code}' } }],
    output: 'steps[0].body.rate',
  },
  callTool: { args: { code: 'EUR' } },
  importTrace: { agent, outcome: 'ok', calls: [{ tool: 'list_orders', args: { open: true }, status: 'ok' }] },
  promoteFlow: { name: 'Daily orders', from: [`${trace}0C`, `${trace}0D`] },
  setBudget: { wakesPerDay: 200 },
  editSettings: { agentSessions: true },
  moveClock: { by: '1h' },
}
