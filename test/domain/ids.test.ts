import { describe, expect, it } from 'vitest'
import { bare, derivedUlid, isId, timeOf, timePart } from '../../shared/domain/ids.ts'
import { schedule, t } from './make.ts'

const at = t('2026-11-30T08:00:00Z')

describe('derived ids', () => {
  it('the same name gives the same id, another name another', () => {
    expect(derivedUlid(at, `${schedule}|R#A`)).toBe(derivedUlid(at, `${schedule}|R#A`))
    expect(derivedUlid(at, `${schedule}|R#A`)).not.toBe(derivedUlid(at, `${schedule}|R#B`))
  })

  it('begin with the time that they name', () => {
    const id = derivedUlid(at, 'anything')
    expect(timeOf(id)).toBe(at)
    expect(id.startsWith(timePart(at))).toBe(true)
    expect(isId('run', `run_${id}`)).toBe(true)
  })

  it('100,000 names of one instant do not collide', () => {
    const seen = new Set<string>()
    for (let i = 0; i < 50_000; i++) {
      seen.add(derivedUlid(at, `${schedule}|R#${i}`))
      seen.add(derivedUlid(at, `sch_${String(i).padStart(26, '0')}|R#0`))
    }
    expect(seen.size).toBe(100_000)
  })

  it('100,000 names hardly collide in the last 60 of their bits either', () => {
    const seen = new Set<string>()
    for (let i = 0; i < 100_000; i++) seen.add(derivedUlid(at, `msg0|${i}`).slice(14))
    expect(seen.size).toBeGreaterThan(99_998)
  })

  it('sort by their time', () => {
    const times = [0, 1, 31, 32, 1023, 1024, at - 1, at, at + 1, 2 ** 47, 2 ** 48 - 1]
    const ids = times.map((time, i) => derivedUlid(time, `${i}`))
    expect([...ids].reverse().sort()).toEqual(ids)
    for (const [i, time] of times.entries()) expect(timeOf(ids[i]!)).toBe(time)
  })
})

describe('the shape of an id', () => {
  const ulid = derivedUlid(at, 'x')
  it.each([
    [`sch_${ulid}`, true],
    [`run_${ulid}`, false],
    [`sch_${ulid.toLowerCase()}`, false],
    [`sch_${ulid}0`, false],
    [`sch_${ulid.slice(1)}`, false],
    [`sch_${ulid.slice(0, 25)}I`, false],
    [`sch_${ulid.slice(0, 25)}U`, false],
    [`sch_${ulid}\n`, false],
    [`SCH_${ulid}`, false],
    ['', false],
  ])('%j names a schedule: %s', (text, is) => {
    expect(isId('sch', text)).toBe(is)
  })

  it('without its prefix it is the ULID', () => {
    expect(bare(`ses_${ulid}`)).toBe(ulid)
  })
})
