import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributesOf, keyAttributes, tableShapes } from '../../shared/adapters/aws/schema.ts'
import { addAttributes, attributeOf, nameOf, storedOf } from '../../shared/adapters/aws/values.ts'
import { type IndexName, type Item, indexes } from '../../shared/ports/table.ts'

const stored = (item: Item) =>
  storedOf({
    pk: { S: 'S#1' },
    sk: { S: 'A' },
    v: { N: '7' },
    ttl: { N: '1' },
    _t: { S: 'mark' },
    ...addAttributes({}, item),
  })

describe('items on DynamoDB', () => {
  it('come back as JSON would give them back, whatever they hold and however it is called', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '_', '__proto__', 'pk', '_pk', 'v', 'ttl', '_t', '_dp'),
    )
    const item = fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.double(), fc.string({ unit: 'binary' })))
    fc.assert(
      fc.property(item, (value) => {
        const back = stored(value as Item)
        expect(back.item).toEqual(JSON.parse(JSON.stringify(value)))
        expect([back.key, back.version]).toEqual([['S#1', 'A'], 7])
      }),
    )
  })

  it.each([
    0.1,
    -1.5,
    5e-324,
    1e-130,
    9e-131,
    1e21,
    123456789012345680000,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    Number.MAX_SAFE_INTEGER,
  ])('the number %d comes back exactly', (n) => {
    expect(stored({ n, list: [n] }).item).toEqual({ n, list: [n] })
  })

  it('half of a surrogate pair is kept, which DynamoDB knows no text for', () => {
    expect(stored({ text: 'a\uD800b' }).item).toEqual({ text: 'a\uD800b' })
    expect(attributeOf('a\uD800b')).toEqual({ SS: ['"a\\ud800b"'] })
  })

  it('what is undefined is left out', () => {
    expect(addAttributes({}, { a: undefined, b: 1 })).toEqual({ b: { N: '1' } })
  })
})

describe('the names of attributes', () => {
  it('of indexes are alike for no two, and no name of an item meets them or the key', () => {
    const ours = (Object.keys(indexes) as IndexName[]).flatMap((index) => Object.values(attributesOf(index)))
    const all = [...ours, ...Object.values(keyAttributes), 'v', 'ttl', '_t']
    expect(new Set(all).size).toBe(all.length)
    for (const name of all) expect(all).not.toContain(nameOf(name))
    fc.assert(fc.property(fc.string(), (name) => !all.includes(nameOf(name))))
  })

  it('a shape names every attribute of its keys once, with its type', () => {
    for (const shape of tableShapes()) {
      const used = [shape.key.pk, shape.key.sk, ...shape.indexes.flatMap(({ pk, sk }) => [pk, sk])]
      expect(shape.attributes.map(({ name }) => name)).toEqual(used)
    }
    const schedules = tableShapes().find(({ table }) => table === 'schedules')
    expect(schedules?.attributes).toContainEqual({ name: attributesOf('due').sk, type: 'N' })
    expect(tableShapes().filter(({ streamed }) => streamed)).toMatchObject([{ table: 'documents' }])
  })
})
