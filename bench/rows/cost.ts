import { latencyMs, memoryMb, type Spent, toolMs } from '../aws/cloud.ts'
import { dailyWakes, monthOf, monthsTable, usd } from '../aws/months.ts'
import { type Bill, parts, prices, usdOf } from '../aws/prices.ts'
import { daily, others } from '../aws/steps.ts'
import type { Cell, Row } from '../row.ts'

const gates = { ofTen: 6.2, alone: 7.5, requests: 7 }
const aims = { ofTen: 5, alone: 6 }
/** One entry of the Scheduler for each wake, which sends to a queue that a function reads, and no ledger; and Upstash's QStash, which sends to a URL. */
const peers = { bare: 2.71, qstash: 10 }

const words: { readonly [part in keyof Bill]: (count: string) => string } = {
  writeUnits: (n) => `DynamoDB, ${n} write units`,
  readUnits: (n) => `DynamoDB, ${n} read units`,
  sqsRequests: (n) => `SQS, ${n} requests`,
  schedulerFires: (n) => `Scheduler, ${n} entries`,
  invocations: (n) => `Lambda, ${n} invocations`,
  gbSeconds: (n) => `Lambda, ${n} GB-seconds`,
  apiCalls: (n) => `API Gateway, ${n} calls`,
  logBytes: (n) => `CloudWatch Logs, ${n} bytes`,
}

export const cost: Row = {
  id: 'cost',
  what: 'AWS, USD per million: a wake, from its alarm to the message in the queue and the run in the ledger; what else is done',
  peer: 'a Scheduler entry each and no ledger',
  gate: `≤ ${gates.ofTen} of ten that come together, ≤ ${gates.alone} alone, ≤ ${gates.requests} requests`,
  aim: `≤ ${aims.ofTen}, ≤ ${aims.alone}`,

  async measure() {
    const alone = await daily(1)
    const ten = await daily(10)
    const { poll, flowStep, change } = await others()
    const [ofTen, byItself] = [perMillion(ten.wake), perMillion(alone.wake)]
    const cells = [
      cell('a wake, one of ten', ofTen, { peer: peers.bare, met: ofTen <= gates.ofTen }),
      ...partsOf(ten.wake),
      cell('a wake alone', byItself, { peer: peers.bare, met: byItself <= gates.alone }),
      ...partsOf(alone.wake),
      cell('requests of the functions, a wake alone', alone.wake.requests, {
        unit: 'requests',
        met: alone.wake.requests <= gates.requests,
      }),
      ...told('its turn: bell, claim, end, a last look', alone.turn),
      ...told("a worker's long poll of an empty queue", alone.listen),
      ...told('a claim that finds nothing', alone.claimInVain),
      ...told('a poll: a monitor looks at a tool', poll),
      ...told('a step of a flow', flowStep),
      ...told('a changed document, until its monitor has rung', change),
      ...told('a schedule is created', alone.created),
      ...told('a sweep, nothing due', alone.sweep),
      ...dailyWakes.map((wakesADay) =>
        cell(`a month of ${wakesADay.toLocaleString('en-US')} wakes a day, all in`, monthOf(alone, wakesADay).total, {
          unit: 'USD',
        }),
      ),
    ]
    const met = cells.every((one) => one.met !== false)
    return {
      cells,
      met,
      aimMet: met && ofTen <= aims.ofTen && byItself <= aims.alone,
      readme: monthsTable(alone),
      summary: `a wake ${usd(ofTen)} USD per million of ten, ${usd(byItself)} alone; its turn ${usd(perMillion(alone.turn))}`,
      notes: [
        'Counted, not measured: a meter on the SDK clients counts each request by the rules of AWS (bench/aws/units.ts) while the engine, the API and the adapters run over AWS in memory; what the services do for us is added (the send of the Scheduler, the receive and delete of the mappings, invocations). us-east-1, on demand, nothing free taken off, everything warm, the third day of a daily schedule. The same run counts the same.',
        `GB-seconds are an estimate: ${memoryMb} MB; ms a request: ${Object.entries(latencyMs)
          .map(([action, ms]) => `${action} ${ms}`)
          .join(', ')}; a tool answers in ${toolMs}.`,
        'Alone, 1.20 of it is the queue between the Scheduler and the function (a send, a receive, a delete), which holds a herd back from the account’s concurrency, and 0.80 the second receive and delete, after the last minute was waited out.',
        `The peer has no ledger, no inbox and no claim, and is late by up to a minute. QStash asks ${peers.qstash} USD per million.`,
      ],
    }
  },
}

const perMillion = ({ bill }: Spent): number => usdOf(bill) * 1_000_000

function cell(name: string, ours: number, o: Partial<Cell> = {}): Cell {
  const { peer = null } = o
  return { name, ours, unit: 'USD', met: null, ...o, peer, ratio: peer === null ? null : ours / peer }
}

const told = (name: string, spent: Spent): Cell[] => [cell(name, perMillion(spent)), ...partsOf(spent)]

const partsOf = ({ bill }: Spent): Cell[] =>
  parts
    .filter((part) => bill[part] > 0)
    .map((part) => cell(`· ${words[part](figure(bill[part]))}`, bill[part] * prices[part] * 1_000_000))

const figure = (count: number): string => String(Number(count.toPrecision(3)))
