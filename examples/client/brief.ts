// A schedule from a program of your own: `node brief.ts` (Node 22.18 or newer runs TypeScript as it is), with ROUSE_URL and ROUSE_KEY set.
import { connect, type Problem, type Schedule } from 'rouse/client'

const { ROUSE_URL = 'http://127.0.0.1:4750', ROUSE_KEY } = process.env
if (ROUSE_KEY === undefined) throw new Error('expected ROUSE_KEY; an embedded node has one in .rouse/credentials.json')
const rouse = connect({ url: ROUSE_URL, key: ROUSE_KEY })

const assistant = await agent('assistant')
const schedule = await morningBrief(assistant)
console.log(`${schedule.name}: ${schedule.inWords}`)
for (const time of schedule.next) console.log(`  ${time.local}`)

/** The agent of that name; made where there is none. */
async function agent(name: string): Promise<string> {
  const found = await rouse.v1.agents.$get({ query: { limit: 100 } })
  if (!found.ok) throw fault(await found.json())
  const { data } = await found.json()
  const known = data.find((one) => one.name === name)
  if (known !== undefined) return known.id
  const made = await rouse.v1.agents.$post({ json: { name } })
  if (!made.ok) throw fault(await made.json())
  return (await made.json()).id
}

async function morningBrief(agent: string): Promise<Schedule> {
  const made = await rouse.v1.schedules.$post({
    json: { name: 'Morning brief', agent, prompt: 'Write the brief.', cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam' },
    // Sent twice, it is made once.
    header: { 'Idempotency-Key': `morning-brief ${agent}` },
  })
  if (!made.ok) throw fault(await made.json())
  if (made.status === 202) throw new Error(`a person is asked first: ${(await made.json()).card}`)
  const { id } = await made.json()
  const read = await rouse.v1.schedules[':id'].$get({ param: { id } })
  if (!read.ok) throw fault(await read.json())
  return await read.json()
}

function fault(problem: Problem): Error {
  return new Error(`${problem.code}: ${problem.detail}`)
}
