import { expect, it } from 'vitest'
import { begins, playScene } from '../../scripts/console-scene.mjs'
import { onDesk } from './looking.ts'

type Scene = Awaited<ReturnType<typeof playScene>>

onDesk('every page, in light, in dark, on a tablet and on a phone', begins, (desk) => {
  let scene: Scene
  const played = async (): Promise<Scene> => {
    scene ??= await playScene(desk.sceneCall)
    return scene
  }

  it('shows the list of conversations', async () => {
    await played()
    await desk.inspect('/conversations', 'conversations', (page) => page.getByRole('link', { name: 'Desk' }).waitFor())
  })

  it('shows a conversation that runs', async () => {
    const { sessions } = await played()
    await desk.inspect(`/conversations/${sessions.desk}`, 'conversation', (page) =>
      page.getByText('Keep the guide to one page').waitFor(),
    )
  })

  it('shows a conversation with what it asks for', async () => {
    const { sessions } = await played()
    await desk.inspect(`/conversations/${sessions.prices}`, 'conversation-asks', (page) =>
      page.getByRole('button', { name: 'Allow' }).waitFor(),
    )
  })

  it('shows a conversation in which a schedule fires', async () => {
    const { sessions } = await played()
    await desk.inspect(`/conversations/${sessions.brief}`, 'conversation-scheduled', (page) =>
      page.getByText('Three things for today').waitFor(),
    )
  })

  it('shows the list of schedules', async () => {
    await played()
    await desk.inspect('/schedules', 'schedules', (page) =>
      page.getByRole('link', { name: 'Renewal reminder', exact: true }).waitFor(),
    )
  })

  it('shows a schedule with its runs and why', async () => {
    const { schedules } = await played()
    await desk.inspect(`/schedules/${schedules.morning}`, 'schedule', (page) => page.getByText('In its way').waitFor())
  })

  it('shows a schedule that is held', async () => {
    const { schedules } = await played()
    await desk.inspect(`/schedules/${schedules.watch}`, 'schedule-held', (page) =>
      page.getByText('waiting until you write in').first().waitFor(),
    )
  })

  it('shows the form of a new schedule', async () => {
    await played()
    await desk.inspect('/schedules/new', 'schedule-new', (page) =>
      page.getByRole('list', { name: 'Next runs' }).waitFor(),
    )
  })

  it('shows the form over a schedule', async () => {
    const { schedules } = await played()
    await desk.inspect(`/schedules/${schedules.nightly}/edit`, 'schedule-edit', (page) =>
      page
        .getByText('does not exist')
        .or(page.getByRole('list', { name: 'Next runs' }))
        .first()
        .waitFor(),
    )
  })

  it('shows the settings', async () => {
    await played()
    await desk.inspect('/settings', 'settings', (page) => page.getByText('You, in all').waitFor())
  })

  it('shows the settings of an agent', async () => {
    const { agents } = await played()
    await desk.inspect(`/settings/agents/${agents.assistant}`, 'settings-agent', (page) =>
      page.getByLabel('Ticks a day').waitFor(),
    )
  })

  it('says so where there is no such page', async () => {
    await played()
    await desk.inspect('/nowhere', 'nowhere', (page) => page.getByText('Nothing is here').waitFor())
    expect(scene).toBeDefined()
  })
})
