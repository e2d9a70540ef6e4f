import { describe, expect, test } from 'vitest'
import { stallIn } from '../../shared/domain/stall.ts'

const call = (tool: string, args = '{}', result: string | null = '"same"') => ({ tool, args, result })
const times = (n: number, one: ReturnType<typeof call>) => Array.from({ length: n }, () => one)

describe('a turn that asks the same again and again', () => {
  test('five times in a row is a stall', () => {
    expect(stallIn(times(5, call('rate')))).toEqual({ tool: 'rate', times: 5 })
  })

  test.each([
    ['four times', times(4, call('rate'))],
    ['another tool in between', [...times(4, call('rate')), call('read'), call('rate')]],
    ['other arguments', [...times(4, call('rate')), call('rate', '{"of":"EUR"}')]],
    ['another result: something moved', [...times(4, call('rate')), call('rate', '{}', '"1.09"')]],
    ['nothing', []],
  ])('%s is none', (_title, calls) => {
    expect(stallIn(calls)).toBeNull()
  })

  test('the longest is told', () => {
    const calls = [...times(5, call('read')), call('write'), ...times(7, call('rate'))]
    expect(stallIn(calls)).toEqual({ tool: 'rate', times: 7 })
  })
})
