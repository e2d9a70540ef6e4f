import { expect, it } from 'vitest'
import { openBell } from '../../shared/adapters/sqlite/bell.ts'
import type { Envelope } from '../../shared/ports/world.ts'

const envelope: Envelope = { kind: 'message', session: 'ses_1', agent: 'agt_1', id: 'msg_1', message: () => ({}) }
const longMs = 1_000_000

it('a ring between the look and the wait is kept', async () => {
  const bell = openBell()
  const listening = bell.listen('ses_1')
  await bell.ring('ses_1', envelope)
  expect(await listening.rung(longMs)).toBe(true)
  expect(await listening.rung(0)).toBe(false)
  listening.close()
})

it('a ring wakes everybody who waits on its queue, and nobody else', async () => {
  const bell = openBell()
  const waits = [bell.wait('ses_1', longMs), bell.wait('ses_1', longMs)]
  const other = bell.wait('ses_2', 20)
  await bell.ring('ses_1', envelope)
  expect(await Promise.all(waits)).toEqual([true, true])
  expect(await other).toBe(false)
})

it('an abort ends the wait, before it or in it, and takes its listener off the signal', async () => {
  const bell = openBell()
  const abort = new AbortController()
  const waiting = bell.wait('ses_1', longMs, abort.signal)
  abort.abort()
  expect(await waiting).toBe(false)
  expect(await bell.wait('ses_1', longMs, abort.signal)).toBe(false)
})

it('closing the bell wakes all with false, those who come later too', async () => {
  const bell = openBell()
  const waits = [bell.wait('ses_1', longMs), bell.wait('ses_2', longMs)]
  bell.closeAll()
  expect(await Promise.all(waits)).toEqual([false, false])
  expect(await bell.wait('ses_1', longMs)).toBe(false)
})

it('observers hear every ring until they leave', async () => {
  const bell = openBell()
  const heard: string[] = []
  const leave = bell.onRing((queue, { id }) => heard.push(`${queue} ${id}`))
  await bell.ring('ses_1', envelope)
  leave()
  await bell.ring('ses_1', envelope)
  expect(heard).toEqual(['ses_1 msg_1'])
})

it('no wait leaves a timer behind, and a wait keeps no process alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const bell = openBell()
  const before = timers()
  const waits = Array.from({ length: 50 }, () => bell.wait('ses_1', longMs))
  expect(timers()).toBe(before)
  await bell.ring('ses_1', envelope)
  await Promise.all(waits)
  expect(timers()).toBe(before)
})
