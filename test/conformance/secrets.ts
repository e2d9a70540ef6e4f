import { expect } from 'vitest'
import type { Case } from './suite.ts'

export const secretCases: readonly Case[] = [
  {
    title: 'a secret is read by its owner and name, replaced, and gone once removed',
    async run({ secrets }, fresh) {
      const owner = fresh('per')
      expect(await secrets.get(owner, 'API_TOKEN')).toBeNull()
      await secrets.put(owner, 'API_TOKEN', 'Zürich "1"\n東京')
      expect(await secrets.get(owner, 'API_TOKEN')).toBe('Zürich "1"\n東京')
      await secrets.put(owner, 'API_TOKEN', 'second')
      expect(await secrets.get(owner, 'API_TOKEN')).toBe('second')
      expect(await secrets.remove(owner, 'API_TOKEN')).toBe(true)
      expect(await secrets.remove(owner, 'API_TOKEN')).toBe(false)
      expect(await secrets.get(owner, 'API_TOKEN')).toBeNull()
    },
  },
  {
    title: 'names are listed in byte order, each owner his own',
    async run({ secrets }, fresh) {
      const [ann, other] = [fresh('per'), fresh('per')]
      for (const name of ['b', 'B', 'a-1', 'a.1', 'constructor', '__proto__x']) await secrets.put(ann, name, 'v')
      await secrets.put(other, 'c', 'v')
      expect(await secrets.names(ann)).toEqual(['B', '__proto__x', 'a-1', 'a.1', 'b', 'constructor'])
      expect(await secrets.names(other)).toEqual(['c'])
      expect(await secrets.names(fresh('per'))).toEqual([])
    },
  },
  {
    title: 'a name that objects have by birth is no secret until it is put',
    async run({ secrets }, fresh) {
      const owner = fresh('per')
      for (const name of ['constructor', 'toString', '__proto__']) {
        expect(await secrets.get(owner, name)).toBeNull()
        expect(await secrets.remove(owner, name)).toBe(false)
      }
      await secrets.put(owner, '__proto__', 'v')
      expect(await secrets.get(owner, '__proto__')).toBe('v')
      expect(await secrets.names(owner)).toEqual(['__proto__'])
    },
  },
  {
    title: 'a value of 4,096 bytes is kept whole',
    async run({ secrets }, fresh) {
      const owner = fresh('per')
      await secrets.put(owner, 'long', 'x'.repeat(4096))
      expect(await secrets.get(owner, 'long')).toBe('x'.repeat(4096))
    },
  },
]
