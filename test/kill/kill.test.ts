import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, it } from 'vitest'
import { RouseNode } from '../journeys/node.ts'
import { armed, expectAllOnce, killedInHerds, schedulesPerRound, waitingIn } from './herd.ts'

describe('a node killed with -9 while 1,000 schedules fire', () => {
  const node = new RouseNode()
  afterAll(() => node.remove())

  it('loses none and doubles none, three times over', async () => {
    await killedInHerds(node, 3)
  }, 60_000)

  it('goes on by itself when its own clock runs', async () => {
    const real = new RouseNode()
    try {
      await real.start()
      // All of them have to be there by then, on a busy machine too.
      const herd = await armed(real, new Date(Date.now() + 12_000).toISOString())
      for (;;) {
        if ((await waitingIn(real, herd)).length > 0) break
        await sleep(20)
      }
      await real.stop('SIGKILL')
      await real.start()
      for (let tries = 0; tries < 200; tries++) {
        if ((await waitingIn(real, herd)).length === schedulesPerRound) break
        await sleep(50)
      }
      await expectAllOnce(real, herd)
    } finally {
      await real.remove()
    }
  }, 60_000)
})
