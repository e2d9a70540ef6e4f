import { expect, it } from 'vitest'
import { end, say, session, turnOf } from '../journeys/actors.ts'
import type { Json } from '../journeys/node.ts'
import { onDesk } from './looking.ts'

const patient = { timeout: 10_000 }

interface Call {
  readonly tool: string
  readonly args: Json
  readonly status?: string
}

onDesk('the page of flows', '2026-03-02T08:00:00Z', (desk) => {
  const { rouse } = desk
  let made: { agent: Json; session: Json } | null = null

  /** An agent whose tool keeps notes. */
  const scene = async () => {
    if (made !== null) return made
    const agent = await rouse.ok('POST', '/v1/agents', { name: 'assistant' })
    made = { agent, session: await session(rouse, agent.id, { title: 'Digest', project: 'acme' }) }
    await rouse.ok('PUT', `/v1/agents/${agent.id}/tools/note`, {
      description: 'Keeps a note.',
      parameters: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } } },
      readOnly: false,
      steps: [{ document: { put: `\${args.path}`, body: `\${args.text}` } }],
    })
    return made
  }
  const note = (path: string, text: string): Call => ({ tool: 'note', args: { path, text } })

  /** A turn that did this; answers its trace. */
  const did = async (calls: readonly Call[], tokens = 4_200): Promise<string> => {
    const { session } = await scene()
    await say(rouse, session.id, 'do it')
    const { turn } = await turnOf(rouse, session.id)
    const toolCalls = calls.map((call) => ({ status: 'ok', result: 'done', ...call }))
    return (await end(rouse, turn.id, { toolCalls, tokens, usd: 0.03 })).trace
  }
  const promote = async (name: string, calls: readonly Call[], more: Json = {}): Promise<Json> =>
    rouse.ok('POST', `/v1/agents/${(await scene()).agent.id}/flows`, {
      name,
      from: [await did(calls), await did(calls)],
      ...more,
    })
  const flowNames = async (): Promise<string[]> =>
    (await rouse.ok('GET', `/v1/agents/${(await scene()).agent.id}/flows`)).data.map(({ name }: Json) => name)

  it('says that an agent comes first, then what a flow would be', async () => {
    const page = await desk.at('/flows')
    await page.getByText('An agent comes first').waitFor()
    await scene()
    await page.getByText('No flow yet').waitFor()
    await page.getByText('It has not run yet.').waitFor()
    await desk.inspect('/flows', 'flows-none', (page) => page.getByText('No flow yet').waitFor())
  })

  it('suggests what was done the same way twice, and makes a flow of it with its steps in sight', async () => {
    const page = await desk.at('/flows')
    await page.getByText('No flow yet').waitFor()
    await did([note('digest/one', 'one'), note('digest/two', 'two')])
    await did([note('digest/one', 'one'), note('digest/two', 'two')])
    await page.getByText('2 runs did the same').waitFor()
    await page.getByText('8,400 tokens, $0.06 together').waitFor()
    await desk.inspect('/flows', 'flows-suggested', (page) => page.getByText('2 runs did the same').waitFor())
    await page.getByRole('button', { name: 'Accept: 2 steps: note, note' }).click()
    const dialog = page.getByRole('dialog', { name: 'Make it a flow' })
    await dialog.getByLabel('Name').fill('weekly-digest')
    await dialog.getByLabel('Let the agent call these tools unasked').check()
    await dialog.getByText('What it will do, step by step').click()
    await dialog.getByText('{"path":"digest/one","text":"one"}').waitFor()
    await dialog.getByRole('button', { name: 'Make it a flow' }).click()
    await page.getByRole('heading', { name: 'weekly-digest', level: 1 }).waitFor()
    expect(await flowNames()).toEqual(['weekly-digest'])
    await page.getByRole('link', { name: 'Flows', exact: true }).first().click()
    await page.getByRole('link', { name: 'weekly-digest', exact: true }).waitFor()
    expect(await page.getByText('Could be flows').count()).toBe(0)
  })

  it('declines a suggestion for good', async () => {
    await did([note('other', 'one')])
    await did([note('other', 'one')])
    const page = await desk.at('/flows')
    await page.getByRole('button', { name: 'Decline: 1 step: note' }).click()
    await page.getByText('Declined: it is not suggested again.').waitFor()
    await expect.poll(() => page.getByText('Could be flows').count(), patient).toBe(0)
    await did([note('other', 'one')])
    await page.reload()
    await page.getByRole('link', { name: 'weekly-digest', exact: true }).waitFor()
    expect(await page.getByText('Could be flows').count()).toBe(0)
  })

  it('S1-20 runs it now, and shows every step with its result', async () => {
    const page = await desk.at('/flows')
    await page.getByRole('button', { name: 'Run now: weekly-digest' }).click()
    await page.getByRole('heading', { name: 'Run of weekly-digest' }).waitFor()
    await page.getByText('all 2 steps done').waitFor()
    const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem')
    await expect
      .poll(() => steps.allInnerTexts(), patient)
      .toEqual([
        expect.stringMatching(/note\s+ok\s+with \{"path":"digest\/one","text":"one"\}\s+result one/),
        expect.stringMatching(/note\s+ok\s+with \{"path":"digest\/two","text":"two"\}\s+result two/),
      ])
    await desk.inspect(new URL(page.url()).pathname.replace('/console', ''), 'flow-run', (page) =>
      page.getByText('result').first().waitFor(),
    )
  })

  it('shows at which step a run ended and why, and what it did not come to', async () => {
    const { agent } = await scene()
    await promote('two-notes', [note('first', '1'), note('second', '2')])
    const page = await desk.at('/flows')
    await page.getByRole('link', { name: 'two-notes', exact: true }).click()
    await rouse.ok('PUT', `/v1/agents/${agent.id}/tools/note`, {
      description: 'Keeps a note.',
      parameters: { type: 'object' },
      readOnly: false,
      steps: [{ document: { put: 'elsewhere', body: 'x' } }],
    })
    await page.getByRole('button', { name: 'Run now: two-notes' }).click()
    await page.getByText('ended at step 1 of 2: tool changed').waitFor()
    const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem')
    await expect.poll(() => steps.count(), patient).toBe(2)
    await desk.inspect(new URL(page.url()).pathname.replace('/console', ''), 'flow-run-failed', (page) =>
      page.getByText('ended at step 1 of 2').waitFor(),
    )
  })

  it('shows one flow with its steps, its times and its runs, and schedules, pauses and resumes it', async () => {
    const { agent } = await scene()
    const page = await desk.at(`/flows/${agent.id}/weekly-digest`)
    await page.getByText('Only by hand').waitFor()
    await page.getByRole('link', { name: 'Schedule weekly-digest' }).click()
    await page.getByLabel('Name').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('weekly-digest')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByRole('heading', { name: 'weekly-digest', level: 1 }).waitFor()
    const { data } = await rouse.ok('GET', `/v1/schedules?agent=${agent.id}`)
    expect(data).toMatchObject([{ kind: 'flow', flow: 'weekly-digest', cron: '0 8 * * 1-5' }])
    await page.goto(`${rouse.url}/console/flows/${agent.id}/weekly-digest`)
    await page.getByRole('button', { name: 'Pause: weekly-digest' }).click()
    await page.getByText('paused', { exact: true }).waitFor()
    expect((await rouse.ok('GET', `/v1/schedules/${data[0].id}`)).nextAt).toBeNull()
    await page.getByRole('button', { name: 'Resume: weekly-digest' }).click()
    await page.getByText('active', { exact: true }).waitFor()
    await desk.inspect(`/flows/${agent.id}/weekly-digest`, 'flow', (page) =>
      page.getByRole('link', { name: /^Run of weekly-digest/ }).waitFor(),
    )
  })

  it('S1-10 shows why runs that differ are no flow, and saves nothing', async () => {
    const { agent } = await scene()
    await did([note('digest/one', 'one'), note('digest/two', 'changed')], 10)
    const before = await flowNames()
    const page = await desk.at(`/flows?agent=${agent.id}`)
    await page.getByRole('link', { name: 'New flow' }).click()
    const boxes = page.getByRole('checkbox', { name: /note, note/ })
    await boxes.nth(0).check()
    await boxes.nth(1).check()
    await page.getByRole('button', { name: 'Promote 2 runs' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('mixed')
    await page.getByRole('dialog').getByRole('button', { name: 'Make it a flow' }).click()
    const refusal = page.getByRole('alert')
    await refusal.waitFor()
    expect(await refusal.textContent()).toContain(
      "could not promote: those traces didn't make the exact same tool calls, in the same order, with the same arguments",
    )
    expect(await flowNames()).toEqual(before)
    desk.heard(/422/)
    await desk.inspect(`/flows/promote?agent=${agent.id}`, 'flows-promote', (page) =>
      page.getByRole('checkbox').first().waitFor(),
    )
  })

  it('S1-22 replaces a flow only when one says so', async () => {
    const { agent } = await scene()
    await did([note('third', '3')])
    await did([note('third', '3')])
    const page = await desk.at(`/flows?agent=${agent.id}`)
    await page.getByRole('button', { name: 'Accept: 1 step: note' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('two-notes')
    await dialog.getByRole('button', { name: 'Make it a flow' }).click()
    await dialog.getByLabel('Replace the flow of that name').check()
    desk.heard(/409/)
    await dialog.getByRole('button', { name: 'Make it a flow' }).click()
    await page.getByRole('heading', { name: 'two-notes', level: 1 }).waitFor()
    await page.getByText('1 step of assistant').waitFor()
  })

  it('compares the next runs in the shadow, counts them as they come, and offers it in the feed', async () => {
    const { agent } = await scene()
    await did([note('shadowed', 'x')])
    await did([note('shadowed', 'x')])
    const page = await desk.at(`/flows?agent=${agent.id}`)
    await page.getByRole('button', { name: 'Accept: 1 step: note' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('shadowed')
    await dialog.getByRole('radio', { name: 'After the next runs agree' }).check()
    await dialog.getByLabel('Runs that have to do the same').fill('2')
    await dialog.getByRole('button', { name: 'Make it a flow' }).click()
    await page.getByText('0 of 2 agreed').waitFor()
    await did([note('shadowed', 'x')])
    await page.getByText('1 of 2 agreed').waitFor()
    await desk.inspect(`/flows?agent=${agent.id}`, 'flows', (page) => page.getByText('1 of 2 agreed').waitFor())
    await did([note('shadowed', 'x')])
    await page.getByRole('link', { name: 'The feed asks whether it becomes a flow.' }).click()
    await page.getByRole('button', { name: 'Allow: "shadowed" may become a flow' }).click()
    await page.getByText('Allowed: it is a flow now.').waitFor()
    expect(await flowNames()).toContain('shadowed')
  })

  it('forgets a shadow, and deletes a flow, after asking', async () => {
    const { agent } = await scene()
    await promote('left', [note('left', 'x')], { shadow: 3 })
    const page = await desk.at(`/flows?agent=${agent.id}`)
    await page.getByRole('button', { name: 'Forget left' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Forget it' }).click()
    await page.getByText('left is forgotten.').waitFor()
    await page.getByRole('button', { name: 'Delete: two-notes' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('two-notes is deleted.').waitFor()
    expect(await flowNames()).not.toContain('two-notes')
  })

  it('says beforehand at which tools a flow would stop', async () => {
    const { agent } = await scene()
    await promote('unapproved', [{ tool: 'send', args: { to: 'team' } }])
    const page = await desk.at(`/flows/${agent.id}/unapproved`)
    await page.getByText('It stops at send: nobody has approved that yet.').waitFor()
    await desk.inspect(`/flows/${agent.id}/unapproved`, 'flow-unapproved', (page) =>
      page.getByText('It stops at').waitFor(),
    )
  })

  it('shows the flows of the agent that one chooses', async () => {
    await scene()
    await rouse.ok('POST', '/v1/agents', { name: 'zeta' })
    const page = await desk.at('/flows')
    await page.getByLabel('Agent', { exact: true }).selectOption('assistant')
    await page.getByRole('link', { name: 'weekly-digest', exact: true }).waitFor()
    await page.getByLabel('Agent', { exact: true }).selectOption('zeta')
    await page.getByText('No flow yet').waitFor()
  })
})
