import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { anywhere, type Json } from './node.ts'

const cases: Json[] = JSON.parse(readFileSync(new URL('../time/recurrence.json', import.meta.url), 'utf8'))

anywhere('faults of other schedulers, asked of the preview', (rouse) => {
  for (const { id, symptom, input, expected } of cases)
    test(`${symptom} (${id})`, async () => {
      const { after, count, ...rule } = input
      const answer = await rouse.call('POST', '/v1/schedules/preview', { ...rule, from: after, count })
      if (!Array.isArray(expected)) {
        expect([answer.status, answer.body.code]).toEqual([422, expected.error])
        return
      }
      expect(answer.status).toBe(200)
      expect(answer.body.next.map(({ at }: { at: string }) => at.replace('.000Z', 'Z'))).toEqual(expected)
    })
})
