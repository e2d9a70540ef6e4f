import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundleFunction, functionNames } from '../../scripts/bundle.mjs'
import { tables } from '../../shared/ports/table.ts'
import { startScript } from '../child.ts'
import { median, shown } from '../figures.ts'
import type { ColdOptions, ColdStart } from '../ours/cold.ts'
import type { Cell, Row } from '../row.ts'
import { coldRounds } from '../sizes.ts'
import { started } from '../started.ts'

const gate = { kb: 300, share: 0.6 }
const root = fileURLToPath(new URL('..', new URL('..', import.meta.url)))
const cache = 'node_modules/.cache/rouse-bench'

type Name = (typeof functionNames)[number]

export const cold: Row = {
  id: 'cold',
  what: 'A function starts: its bundle, and the CPU of its import and its first call',
  peer: 'three SDK clients, hono and zod',
  gate: `alarm ≤ ${gate.kb} KB at start, ≤ ${gate.share}× the CPU`,
  aim: null,

  async measure() {
    const sizes = new Map<Name, { start: number; whole: number }>()
    for (const name of functionNames) {
      const { start, whole } = await bundleFunction(name, { outdir: `${cache}/functions/${name}` })
      sizes.set(name, { start: start.bytes / 1000, whole: whole.bytes / 1000 })
    }
    const peerKb = await bundlePeer()
    const { url, close } = await emptyAws()
    const stop = started(close)
    const taken = new Map<Name | 'peer', ColdStart[]>()
    for (let round = 0; round < coldRounds; round += 1)
      for (const name of ['peer', ...functionNames] as const)
        taken.set(name, [...(taken.get(name) ?? []), await startedCold(name, url)])
    await stop()

    const cpu = (name: Name | 'peer'): number => median(taken.get(name)!.map(({ init, first }) => init + first))
    const peer = cpu('peer')
    const cells = functionNames.flatMap((name): Cell[] => {
      const { start, whole } = sizes.get(name)!
      const isJudged = name === 'alarm'
      const share = cpu(name) / peer
      const init = median(taken.get(name)!.map(({ init }) => init))
      return [
        {
          name: `${name}: loaded when it starts (${Math.round(whole)} KB in all)`,
          ours: start,
          peer: peerKb,
          unit: 'KB',
          ratio: start / peerKb,
          met: isJudged ? start <= gate.kb : null,
        },
        {
          name: `${name}: CPU of import and first call (import ${shown(init)} ms)`,
          ours: cpu(name),
          peer,
          unit: 'ms',
          ratio: share,
          met: isJudged ? share <= gate.share : null,
        },
      ]
    })
    const { start } = sizes.get('alarm')!
    return {
      cells,
      met: cells.every(({ met }) => met !== false),
      aimMet: null,
      summary: `alarm ${Math.round(start)} KB and ${shown(cpu('alarm'))} ms of CPU, the peer ${Math.round(peerKb)} KB and ${shown(peer)} ms`,
      notes: [
        `${coldRounds} round(s) in turns, medians; each start a Node of its own, CPU of all its threads, Node's own start left out. The services are an HTTP server on this machine that has nothing. The alarm names a schedule that is gone; sweep asks each index of what is due; api answers /healthz; flow and change find nothing.`,
        'The peer is bundled by esbuild, minified, as its guides say; ours are as they are deployed (scripts/bundle.mjs).',
      ],
    }
  },
}

async function bundlePeer(): Promise<number> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { index: 'bench/peers/function.ts' },
    outdir: `${cache}/functions/peer`,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // What of the SDK is CommonJS asks for Node's own modules.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    metafile: true,
    logLevel: 'warning',
  })
  return Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0) / 1000
}

const alarm = (kind: string, id: string) => ({
  Records: [{ messageId: 'm', body: JSON.stringify({ kind, id, at: 1 }) }],
})
const ulid = '01J0000000000000000000ABCD'

const events: { readonly [name in Name | 'peer']: object } = {
  peer: alarm('schedule', `sch_${ulid}`),
  alarm: alarm('schedule', `sch_${ulid}`),
  sweep: {},
  flow: alarm('flow', `flr_${ulid}`),
  change: { Records: [{ dynamodb: { Keys: { pk: { S: `D#${ulid}` }, sk: { S: 'H#d' } }, SequenceNumber: '1' } }] },
  api: {
    version: '2.0',
    rawPath: '/healthz',
    rawQueryString: '',
    headers: {},
    isBase64Encoded: false,
    requestContext: { domainName: 'rouse.test', http: { method: 'GET', path: '/healthz' } },
  },
}

async function startedCold(name: Name | 'peer', url: string): Promise<ColdStart> {
  const bundle = `${root}${cache}/functions/${name}/index.mjs`
  const options: ColdOptions = { bundle, event: events[name] }
  const child = startScript('./ours/cold.ts', options, { ...process.env, ...environment(url) })
  try {
    return await child.answer<ColdStart>()
  } finally {
    await child.stop()
  }
}

/** As infra/functions.ts sets it. */
const environment = (url: string): Record<string, string> => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ENDPOINT_URL: url,
  ROUSE_STAGE: 'bench',
  ROUSE_TABLES: JSON.stringify(Object.fromEntries(Object.keys(tables).map((name) => [name, `rouse-${name}`]))),
  ROUSE_ALARMS_QUEUE_URL: `${url}/000000000000/rouse-alarms`,
  ROUSE_ALARMS_QUEUE_ARN: 'arn:aws:sqs:us-east-1:000000000000:rouse-alarms',
  ROUSE_FLOWS_QUEUE_URL: `${url}/000000000000/rouse-flows`,
  ROUSE_SCHEDULER_GROUP: 'rouse',
  ROUSE_SCHEDULER_ROLE_ARN: 'arn:aws:iam::000000000000:role/scheduler',
  ROUSE_QUEUE_PREFIX: 'rouse-session-',
  ROUSE_SECRETS_PREFIX: '/rouse/secrets/',
  ROUSE_SHARDS: '8',
})

/** Services in which nothing is. */
async function emptyAws(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const action = String(request.headers['x-amz-target'] ?? '').split('.')[1]
    const answer = action === 'Query' ? { Items: [], Count: 0 } : action === 'BatchGetItem' ? { Responses: {} } : {}
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/x-amz-json-1.0')
      response.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
