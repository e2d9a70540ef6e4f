import { type Actor, actor, all, moveBy, runs, schedule } from './actors.ts'
import type { Answer, CallOptions, Json, RouseNode } from './node.ts'

/** An agent whose session has a worker that runs checks. */
export async function checker(rouse: RouseNode, more: Json = {}): Promise<Actor> {
  const who = await actor(rouse, more)
  await rouse.ok('PATCH', `/v1/sessions/${who.session.id}`, { checks: true }, who.as)
  return who
}

/** A schedule every 10 minutes whose script is looked at first. */
export function checkedSchedule(rouse: RouseNode, who: Actor, more: Json = {}): Promise<Json> {
  const target = more.agent === undefined && more.session === undefined ? { session: who.session.id } : {}
  const rule = more.at === undefined && more.cron === undefined ? { every: '10m' } : {}
  return schedule(rouse, { ...target, ...rule, check: { script: 'checks/new-calls.sh' }, ...more })
}

/** Takes the next job of the worker's session; null when there is none. Never starts a turn. */
export async function jobOf(rouse: RouseNode, who: Actor, more: Json = {}): Promise<Json> {
  const answer = await rouse.call('POST', `/v1/sessions/${who.session.id}/claim`, { jobs: 'only', ...more }, who.as)
  if (answer.status === 204) return null
  if (answer.status !== 200) throw new Error(`claim answered ${answer.status} ${JSON.stringify(answer.body)}`)
  if (answer.body.job === undefined) throw new Error(`claim answered no job: ${JSON.stringify(answer.body)}`)
  return answer.body.job
}

/** Takes the next job, which must be there. */
export async function theJob(rouse: RouseNode, who: Actor): Promise<Json> {
  const job = await jobOf(rouse, who)
  if (job === null) throw new Error(`no job waits for ${who.session.id}`)
  return job
}

export function endJob(rouse: RouseNode, who: Actor, id: string, exit: number, output = ''): Promise<Answer> {
  return rouse.call('POST', `/v1/jobs/${id}/end`, { exit, output }, who.as)
}

/** Takes the next job and ends it so. */
export async function answerCheck(rouse: RouseNode, who: Actor, exit: number, output = ''): Promise<Json> {
  const job = await theJob(rouse, who)
  const answer = await endJob(rouse, who, job.id, exit, output)
  if (answer.status !== 200) throw new Error(`end answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return job
}

/** The checks of the next slots come to this, one each 10 minutes. */
export async function live(rouse: RouseNode, who: Actor, ends: readonly (readonly [exit: number, output?: string])[]) {
  for (const [exit, output] of ends) {
    await moveBy(rouse, '10m')
    await answerCheck(rouse, who, exit, output)
  }
}

/** What became of each run of a schedule, oldest first. */
export async function fates(rouse: RouseNode, scheduleId: string): Promise<[string, string | null][]> {
  return (await runs(rouse, scheduleId)).map(({ outcome, reason }) => [outcome, reason])
}

/** The incident cards of a schedule or trigger. */
export async function incidents(rouse: RouseNode, id: string, o: CallOptions = {}): Promise<Json[]> {
  return (await all(rouse, '/v1/feed', o)).filter((card) => card.schedule === id)
}
