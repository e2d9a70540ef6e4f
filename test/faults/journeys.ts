import { alarmsQueue, flowsQueue } from './aws/memory-aws.ts'
import { type Cloud, minute } from './cloud.ts'
import type { Line } from './line.ts'

/** What is there before a journey begins. */
export interface Place {
  readonly agent: string
  readonly session: string
}

/**
 * One invocation of a function, and what led to it. Its requests fail one after the other.
 *
 * `prepare` ends right before the invocation, `act` makes it.
 */
export interface Journey<Prepared = unknown> {
  readonly prepare: (cloud: Cloud, place: Place) => Promise<Prepared>
  readonly act: (cloud: Cloud, line: Line, place: Place, prepared: Prepared) => Promise<unknown>
  /** What waits has to be rung for in the end, whatever failed: an alarm that comes again rings again. Elsewhere the inbox has to do. */
  readonly rings?: boolean
  /** True where another end than the faultless one is right as well. */
  readonly ends?: (cloud: Cloud, state: readonly string[]) => boolean
}

const journey = <Prepared>(o: Journey<Prepared>): Journey => o as Journey
const hour = 60 * minute

const schedule = (cloud: Cloud, more: object) =>
  cloud.ask('POST', '/v1/schedules', { name: 'Review', prompt: 'Look.', every: '1h', ...more })

/** To when the alarm of what is due in `ms` has been handed to SQS, waited there, and is due. */
async function untilDue(cloud: Cloud, ms: number): Promise<void> {
  cloud.pass(ms - minute)
  await cloud.deliver(alarmsQueue)
  cloud.pass(minute)
}

const alarms = (cloud: Cloud, line: Line) => cloud.deliver(alarmsQueue, line)
const hookId = { 'webhook-id': 'msg_once', 'idempotency-key': 'once' }
const idem = { 'idempotency-key': 'once' }

async function running(cloud: Cloud, { session }: Place, more: object = {}) {
  await schedule(cloud, { session, ...more })
  await untilDue(cloud, hour)
  await cloud.deliver(alarmsQueue)
  const { turn } = await cloud.ask('POST', `/v1/sessions/${session}/claim`, { leaseSeconds: 7200 })
  return { turn: turn.id as string }
}

const ending = { outcome: 'ok', answer: 'Done.', toolCalls: [{ tool: 'shell', args: { cmd: 'ls' }, status: 'ok' }] }
const end = (cloud: Cloud, line: Line, turn: string) =>
  cloud.call({ method: 'POST', path: `/v1/turns/${turn}/end`, body: ending }, line)

/** A flow of two steps: one reads, one orders. */
async function flow(cloud: Cloud, { agent }: Place): Promise<void> {
  const tool = (readOnly: boolean, step: object) => ({
    description: 'A step.',
    parameters: { type: 'object' },
    readOnly,
    steps: [{ http: step }],
  })
  await cloud.ask('PUT', `/v1/agents/${agent}/tools/rate`, tool(true, { method: 'GET', url: 'https://bank.test/rate' }))
  await cloud.ask(
    'PUT',
    `/v1/agents/${agent}/tools/buy`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a step is written
    tool(false, { method: 'POST', url: 'https://bank.test/orders', body: '${args}' }),
  )
  const calls = ['rate', 'buy'].map((name) => ({ tool: name, args: {}, status: 'ok', result: 'x' }))
  const from: string[] = []
  for (let n = 0; n < 2; n++) from.push((await cloud.ask('POST', '/v1/traces', { agent, outcome: 'ok', calls })).id)
  await cloud.ask('POST', `/v1/agents/${agent}/flows`, { name: 'shopping', from, approve: true })
}

export const journeys: Readonly<Record<string, Journey>> = {
  'an alarm comes a minute early': journey({
    prepare: async (cloud, { session }) => {
      await schedule(cloud, { session })
      cloud.pass(59 * minute)
    },
    act: alarms,
    rings: true,
  }),
  'a schedule fires into a session': journey({
    prepare: async (cloud, { session }) => {
      await schedule(cloud, { session })
      await untilDue(cloud, hour)
    },
    act: alarms,
    rings: true,
  }),
  'a schedule fires once, and is done': journey({
    prepare: async (cloud, { session }) => {
      await schedule(cloud, { session, every: undefined, at: '2026-11-30T09:00', tz: 'UTC' })
      await untilDue(cloud, hour)
    },
    act: alarms,
    rings: true,
  }),
  'a schedule fires into a fresh session': journey({
    prepare: async (cloud, { agent }) => {
      await schedule(cloud, { agent })
      await untilDue(cloud, hour)
    },
    act: alarms,
    rings: true,
  }),
  'three schedules fire together, one of them within a budget': journey({
    prepare: async (cloud, { agent, session }) => {
      const limited = (await cloud.ask('POST', '/v1/agents', { name: 'scout', budget: { wakesPerDay: 9 } })).id
      await schedule(cloud, { session })
      await schedule(cloud, { agent })
      await schedule(cloud, { agent: limited })
      await untilDue(cloud, hour)
    },
    act: alarms,
    rings: true,
  }),
  'a tool looks before a schedule fires': journey({
    prepare: async (cloud, { agent, session }) => {
      const steps = [{ http: { method: 'GET', url: 'https://bank.test/rate' } }]
      const tool = { description: 'Looks.', parameters: { type: 'object' }, readOnly: true, steps, output: '"found"' }
      await cloud.ask('PUT', `/v1/agents/${agent}/tools/rate`, tool)
      await schedule(cloud, { session, check: { tool: 'rate' } })
      await untilDue(cloud, hour)
      await cloud.deliver(alarmsQueue)
    },
    act: alarms,
  }),
  'the sweep finds a schedule that no alarm brought': journey({
    prepare: async (cloud, { session, agent }) => {
      await schedule(cloud, { session })
      await schedule(cloud, { agent })
      cloud.pass(hour)
      cloud.aws.queues.named(alarmsQueue)!.messages.clear()
    },
    act: (cloud, line) => cloud.sweep(line),
  }),
  'a monitor fires at its time': journey({
    prepare: async (cloud, { session }) => {
      const watch = { time: { in: '1h' } }
      await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell them.', watch })
      await untilDue(cloud, hour)
    },
    act: alarms,
  }),
  'a document is put that somebody watches': journey({
    prepare: async (cloud, { session }) => {
      await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch: { document: { path: 'd' } } })
    },
    act: (cloud, line) => cloud.call({ method: 'PUT', path: '/v1/documents/d', body: { n: 1 } }, line),
  }),
  'a change of a document reaches a monitor and a trigger': journey({
    prepare: async (cloud, { session }) => {
      await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch: { document: { path: 'd' } } })
      const on = { document: { prefix: 'd' } }
      await cloud.ask('POST', '/v1/triggers', { name: 'Changes', session, prompt: 'Look.', on, settle: '0s' })
      await cloud.ask('PUT', '/v1/documents/d', { n: 1 })
    },
    act: (cloud, line) => cloud.stream(line),
  }),
  'a flow is begun': journey({
    prepare: flow,
    act: (cloud, line, { agent }) =>
      cloud.call({ method: 'POST', path: `/v1/agents/${agent}/flows/shopping/run`, headers: idem }, line),
  }),
  'a flow takes a step that reads': journey({
    prepare: async (cloud, place) => {
      await flow(cloud, place)
      await cloud.ask('POST', `/v1/agents/${place.agent}/flows/shopping/run`)
    },
    act: (cloud, line) => cloud.deliver(flowsQueue, line, 1),
  }),
  'a flow takes a step that writes': journey({
    prepare: async (cloud, place) => {
      await flow(cloud, place)
      await cloud.ask('POST', `/v1/agents/${place.agent}/flows/shopping/run`)
      await cloud.deliver(flowsQueue, cloud.line(), 1)
    },
    act: (cloud, line) => cloud.deliver(flowsQueue, line, 1),
    // Whoever dies during the call leaves a person to find out what became of it: it is never made twice.
    ends: (cloud, state) => {
      const orders = cloud.outside.sent.filter((request) => 'url' in request && request.url.endsWith('/orders'))
      return orders.length <= 1 && state.some((line) => line.includes('"status":"unknown"') && line.includes('"flow":'))
    },
  }),
  'a webhook reaches a trigger': journey({
    prepare: async (cloud, { session }) => {
      const on = { webhook: true }
      const { url } = await cloud.ask('POST', '/v1/triggers', { name: 'Build', session, prompt: 'Look.', on })
      return { path: new URL(url, 'https://rouse.test').pathname }
    },
    act: (cloud, line, _, { path }) => cloud.call({ method: 'POST', path, body: { red: 1 }, headers: hookId }, line),
  }),
  'an agent sends to another session': journey({
    prepare: async (cloud, { agent }) => {
      await cloud.ask('PATCH', '/v1/settings', { agentSessions: true })
      const { key } = await cloud.ask('POST', `/v1/agents/${agent}/keys`, {})
      const from = (await cloud.ask('POST', '/v1/sessions', { agent, title: 'Other', main: false })).id
      return { key: key as string, from: from as string }
    },
    act: (cloud, line, { session }, { key, from }) =>
      cloud.call(
        {
          method: 'POST',
          path: `/v1/sessions/${session}/messages`,
          body: { text: 'Look at this.' },
          key,
          headers: { ...idem, 'x-rouse-session': from },
        },
        line,
      ),
  }),
  'a tool looks for a monitor': journey({
    prepare: async (cloud, { agent, session }) => {
      const steps = [{ http: { method: 'GET', url: 'https://bank.test/rate' } }]
      const tool = { description: 'Looks.', parameters: { type: 'object' }, readOnly: true, steps, output: '"found"' }
      await cloud.ask('PUT', `/v1/agents/${agent}/tools/rate`, tool)
      const watch = { tool: { name: 'rate', every: '5m' } }
      await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch, when: 'output == "found"' })
      cloud.pass(5 * minute)
    },
    act: alarms,
  }),
  'a person writes': journey({
    prepare: async () => {},
    act: (cloud, line, { session }) =>
      cloud.call(
        { method: 'POST', path: `/v1/sessions/${session}/messages`, body: { text: 'Hello.' }, headers: idem },
        line,
      ),
  }),
  'a schedule is created': journey({
    prepare: async () => {},
    act: (cloud, line, { session }) =>
      cloud.call(
        {
          method: 'POST',
          path: '/v1/schedules',
          body: { name: 'Review', prompt: 'Look.', cron: '0 * * * *', session },
          headers: idem,
        },
        line,
      ),
  }),
  'a prompt is claimed': journey({
    prepare: async (cloud, { session }) => {
      await schedule(cloud, { session })
      await untilDue(cloud, hour)
      await cloud.deliver(alarmsQueue)
    },
    act: (cloud, line, { session }) =>
      cloud.call({ method: 'POST', path: `/v1/sessions/${session}/claim`, body: { leaseSeconds: 7200 } }, line),
  }),
  'a turn ends': journey({
    prepare: running,
    act: (cloud, line, _, { turn }) => end(cloud, line, turn),
  }),
  'a turn ends that sends its result on': journey({
    prepare: (cloud, place) => running(cloud, place, { deliver: ['webhook:https://hooks.test/x', 'feed:reports'] }),
    act: (cloud, line, _, { turn }) => end(cloud, line, turn),
  }),
  'a result is sent on': journey({
    prepare: async (cloud, place) => {
      const { turn } = await running(cloud, place, { deliver: ['webhook:https://hooks.test/x', 'feed:reports'] })
      await end(cloud, cloud.line(), turn)
    },
    act: alarms,
  }),
  'a turn lapses': journey({
    prepare: async (cloud, place) => {
      await schedule(cloud, { session: place.session, onUnknown: 'retry' })
      await untilDue(cloud, hour)
      await cloud.deliver(alarmsQueue)
      await cloud.ask('POST', `/v1/sessions/${place.session}/claim`, {})
      cloud.pass(2 * minute)
    },
    act: alarms,
  }),
  'a tick wakes an idle session': journey({
    prepare: async (cloud, { agent }) => {
      const main = (await cloud.ask('POST', '/v1/sessions', { agent, title: 'Main' })).id
      await cloud.ask('POST', `/v1/sessions/${main}/messages`, { text: 'Go on.' })
      const { turn } = await cloud.ask('POST', `/v1/sessions/${main}/claim`, { leaseSeconds: 7200 })
      await end(cloud, cloud.line(), turn.id)
      cloud.pass(5 * minute)
    },
    act: alarms,
  }),
  'a session is compacted': journey({
    prepare: async (cloud, { session }) => {
      await schedule(cloud, { session })
      await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' })
    },
    act: (cloud, line, { session }) =>
      cloud.call({ method: 'POST', path: `/v1/sessions/${session}/compact`, headers: idem }, line),
  }),
  'a session is archived': journey({
    prepare: async (cloud, { session }) => {
      await schedule(cloud, { session })
      await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' })
    },
    act: (cloud, line, { session }) => cloud.call({ method: 'POST', path: `/v1/sessions/${session}/archive` }, line),
  }),
  'a worker asks for its queue': journey({
    prepare: async () => {},
    act: (cloud, line, { session }) => cloud.call({ method: 'POST', path: `/v1/sessions/${session}/queue` }, line),
  }),
  'a secret is kept': journey({
    prepare: async () => {},
    act: (cloud, line) => cloud.call({ method: 'PUT', path: '/v1/secrets/TOKEN', body: { value: 'hush' } }, line),
  }),
}
