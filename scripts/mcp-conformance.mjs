// Serves an embedded node and holds it against the official MCP conformance suite, on the lines of 2025-11-25 and 2026-07-28, and against the
// MCP inspector's strict look at the tools. Needs Node 24 and the npm registry: `node scripts/mcp-conformance.mjs [dist/rouse.js]`, after a build.
// Prints what failed that should not have, then `N passed, N failed`. A failure that is expected counts as neither; one that is expected and does
// not come counts as failed, so that the list below stays true.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const tools = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', '@modelcontextprotocol/inspector@2.12.0']
const revisions = ['2025-11-25', '2026-07-28']
const program = process.argv[2] ?? fileURLToPath(new URL('../dist/rouse.js', import.meta.url))

/** Why → `scenario:check`; `*` stands for any text. */
const expected = {
  'Rouse offers tools and nothing else, and says so in its capabilities: other methods are "Method not found"': [
    'completion-complete:completion-complete',
    'logging-set-level:logging-set-level',
    'prompts-*:prompts-*',
    'resources-*:resources-*',
    'caching:sep-2549-prompts-list-caching-hints',
    'caching:sep-2549-resources-list-caching-hints',
    'caching:sep-2549-resources-templates-list-caching-hints',
    'input-required-result-non-tool-request:sep-2322-non-tool-incomplete',
  ],
  "It calls a tool of the suite's own reference server, which no product has": [
    'tools-call-*:tools-call-*',
    'elicitation-*:elicitation-*',
    'json-schema-2020-12:json-schema-2020-12-tool-found',
    'input-required-result-basic-*:sep-2322-*-incomplete',
    'input-required-result-capability-check:sep-2322-respect-client-capabilities',
    'input-required-result-multi-round:sep-2322-multi-round-r1',
    'input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete',
    'input-required-result-request-state:sep-2322-request-state-incomplete',
    'input-required-result-result-type:sep-2322-result-type-included',
    'input-required-result-tampered-state:sep-2322-reject-tampered-state',
    'server-stateless:sep-2575-server-rejects-undeclared-capability',
    'server-stateless:sep-2575-missing-capability-http-400',
    'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless:sep-2575-server-no-log-without-loglevel',
  ],
  'No tool of Rouse has arguments that travel as headers': ['http-custom-header-server-validation:sep-2243-server-*'],
  'Tasks are an extension that Rouse does not offer: no tool of it takes longer than a call': [
    'tasks-*:tasks-*',
    'tasks-*:sep-2663-*',
  ],
}

const work = mkdtempSync(join(tmpdir(), 'rouse-mcp-conformance-'))
const children = new Set()
let passed = 0
let failed = 0
let excused = 0
const fail = (what) => {
  failed += 1
  console.log(`✗ ${what}`)
}

try {
  await run('npm', ['install', '--prefix', work, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...tools])
  const node = await serve()
  const door = await keyed(node)
  const met = new Set()
  for (const revision of revisions) {
    const out = join(work, revision)
    const args = ['server', '--url', `${door.url}/mcp`, '--requirements', revision, '-o', out]
    // Its exit code counts what is expected; its files are what is looked at.
    await run(
      process.execPath,
      [join(work, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'), ...args],
      true,
    )
    for (const { scenario, checks } of resultsIn(out)) judge(revision, scenario, checks, met)
  }
  for (const pattern of Object.values(expected).flat())
    if (!met.has(pattern)) fail(`${pattern}: expected to fail and does not (any more); take it off the list`)
  for (const era of ['legacy', 'modern']) await inspect(node, era)
  door.server.close()
} catch (error) {
  fail(error.message)
} finally {
  for (const child of children) child.kill()
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`${excused} failures are expected, each for a reason in scripts/mcp-conformance.mjs`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function judge(revision, scenario, checks, met) {
  for (const { id, status, errorMessage } of checks) {
    if (status === 'SUCCESS') passed += 1
    if (status !== 'FAILURE') continue
    const why = Object.values(expected)
      .flat()
      .find((pattern) => matches(pattern, scenario, id))
    if (why === undefined) fail(`${revision} ${scenario}:${id} ${errorMessage ?? ''}`)
    else {
      met.add(why)
      excused += 1
    }
  }
}

function matches(pattern, scenario, check) {
  const shapes = pattern.split(':').map((part) => new RegExp(`^${part.replaceAll('*', '.*')}$`))
  return shapes[0].test(scenario) && shapes[1].test(check)
}

function resultsIn(dir) {
  return readdirSync(dir).map((name) => ({
    scenario: /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name,
    checks: JSON.parse(readFileSync(join(dir, name, 'checks.json'), 'utf8')),
  }))
}

/** Its strict look at every tool's schema: no errors, and no warnings either. */
async function inspect(node, era) {
  const args = ['--cli', `${node.url}/mcp`, '--header', `Authorization: Bearer ${node.key}`]
  const more = ['--method', 'tools/list', '--strict', '--protocol-era', era]
  const bin = join(work, 'node_modules/.bin/mcp-inspector')
  const { code, stdout, stderr } = await run(process.execPath, [bin, ...args, ...more], true)
  if (code !== 0 || /warning|error/i.test(stderr)) return fail(`inspector --strict (${era}): exit ${code}\n${stderr}`)
  if (JSON.parse(stdout).tools.length < 11) return fail(`inspector --strict (${era}): listed too few tools`)
  passed += 1
}

async function serve() {
  const data = join(work, 'data')
  const child = start(process.execPath, [program, 'serve', '--port', '0', '--data', data])
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  for (let waited = 0; !said.includes('Rouse is up at'); waited += 50) {
    if (child.exitCode !== null || waited > 20_000) throw new Error(`the node did not start: ${said}`)
    await sleep(50)
  }
  return JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))
}

/** The suite knows no keys: what stands in front of the node puts one in, and passes on everything else as it came. */
async function keyed({ url, key }) {
  const { hostname, port } = new URL(url)
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${key}` }
    const out = request({ hostname, port, method: asked.method, path: asked.url, headers }, (got) => {
      answer.writeHead(got.statusCode, got.headers)
      got.pipe(answer)
    })
    out.on('error', () => answer.destroy())
    asked.pipe(out)
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return { server, url: `http://localhost:${server.address().port}` }
}

function start(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

function run(command, args, whatever = false) {
  const child = start(command, args)
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].on('data', (chunk) => {
      said[name] += chunk
    })
  return new Promise((done, broken) => {
    child.on('error', broken)
    child.on('close', (code) =>
      code === 0 || whatever
        ? done({ code, ...said })
        : broken(new Error(`${command} ended with ${code}\n${said.stdout}${said.stderr}`)),
    )
  })
}
