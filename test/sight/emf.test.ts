import { describe, expect, it } from 'vitest'
import { openEmf } from '../../shared/adapters/aws/emf.ts'

function opened() {
  const lines: string[] = []
  const meter = openEmf('dev', (line) => lines.push(line))
  const flushed = () => {
    meter.flush()
    return lines.splice(0).map((line) => {
      expect(line.endsWith('\n')).toBe(true)
      return JSON.parse(line)
    })
  }
  return { meter, flushed }
}

describe('metrics of a function', () => {
  it('are one line of CloudWatch’s embedded metric format, with the stage as the one dimension', () => {
    const { meter, flushed } = opened()
    meter.count('fires', 2)
    meter.count('fires', 1)
    meter.count('skips', 1, 'budget')
    meter.observe('lateness', 120)
    meter.observe('lateness', 80)
    const [line, ...others] = flushed()
    expect(others).toEqual([])
    const { _aws, ...values } = line
    expect(values).toEqual({ stage: 'dev', Fires: 3, 'Skips.budget': 1, Lateness: [120, 80] })
    expect(Date.now() - _aws.Timestamp).toBeLessThan(10_000)
    expect(_aws.CloudWatchMetrics).toEqual([
      {
        Namespace: 'Rouse',
        Dimensions: [['stage']],
        Metrics: [{ Name: 'Fires' }, { Name: 'Skips.budget' }, { Name: 'Lateness', Unit: 'Milliseconds' }],
      },
    ])
  })

  it('are written once: what was counted is not counted again', () => {
    const { meter, flushed } = opened()
    meter.count('fires', 1)
    expect(flushed()).toHaveLength(1)
    expect(flushed()).toEqual([])
  })

  it('cost no line where there is nothing that somebody would do something about', () => {
    const { meter, flushed } = opened()
    meter.count('ends', 1, 'ok')
    meter.count('deliveries', 1, 'sent')
    meter.count('checks', 1, 'nothing')
    meter.count('calls', 1, '2xx')
    meter.observe('wait', 5)
    expect(flushed()).toEqual([])
    meter.count('ends', 1, 'failed')
    expect(flushed()[0]).toMatchObject({ 'Ends.failed': 1 })
  })

  it('of a herd are as many lines as the format’s 100 values of one metric ask for, and no value is lost', () => {
    const { meter, flushed } = opened()
    for (let i = 0; i < 250; i++) meter.observe('lateness', i)
    const lines = flushed()
    expect(lines.map(({ Lateness }) => Lateness.length)).toEqual([100, 100, 50])
    expect(lines.flatMap(({ Lateness }) => Lateness)).toEqual(Array.from({ length: 250 }, (_, i) => i))
  })
})
