// Serves an embedded node with something of each kind in it and holds it against its own openapi.json with schemathesis: no 500, no status that the
// document does not name, no body off its schema, nothing taken that the document forbids. Needs Python 3 with venv and the PyPI registry:
// `node scripts/schemathesis.mjs [dist/rouse.js]`, after a build. The seed is fixed; ROUSE_CONTRACT_EXAMPLES says how many calls to try for each
// operation. Prints what schemathesis prints, then `N passed, N failed`: operations that held, and faults.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seeded } from './schemathesis/seeded.mjs'

const version = '4.32.5'
const seed = 20260302
const minutesMax = 15
const root = fileURLToPath(new URL('..', import.meta.url))
const venv = join(root, '.venv-contract')
const program = process.argv[2] ?? join(root, 'dist/rouse.js')
const examples = process.env.ROUSE_CONTRACT_EXAMPLES ?? '15'
/** What is not looked at, and why. */
const excluded = {
  positive_data_acceptance:
    'a body can fit its schema and be refused: cron lines, zones and CEL are no matter of JSON Schema',
  object_level_authorization: 'needs a second person; the access matrix is tried in test/journeys/matrix.test.ts',
}

const work = mkdtempSync(join(tmpdir(), 'rouse-schemathesis-'))
const children = new Set()
let passed = 0
let failed = 0

try {
  await installed()
  const node = await serve()
  const report = join(work, 'junit.xml')
  const config = join(work, 'schemathesis.toml')
  writeFileSync(config, settings(await seeded((method, path, body) => answer(node, method, path, body))))
  const code = await run(
    join(venv, 'bin/st'),
    [
      ...['--config-file', config, 'run', `${node.url}/openapi.json`, '--header', `Authorization: Bearer ${node.key}`],
      ...[
        '--checks',
        'all',
        '--exclude-checks',
        Object.keys(excluded).join(','),
        '--phases',
        'examples,coverage,fuzzing',
      ],
      ...['--max-examples', examples, '--seed', `${seed}`, '--no-shrink', '--workers', '2', '--continue-on-failure'],
      ...['--request-timeout', '20', '--warnings', 'off', '--report', 'junit', '--report-junit-path', report],
    ],
    { SCHEMATHESIS_HOOKS: 'hooks', PYTHONPATH: join(root, 'scripts/schemathesis'), PYTHONDONTWRITEBYTECODE: '1' },
  )
  const cases = existsSync(report) ? readFileSync(report, 'utf8') : ''
  const all = cases.match(/<testcase /g)?.length ?? 0
  failed += cases.match(/<failure |<error /g)?.length ?? 0
  passed = all - (cases.match(/<testcase [^>]*>\s*<(failure|error) /g)?.length ?? 0)
  if (code !== 0 && failed === 0) fail(`schemathesis ended with ${code}`)
  if (node.said.includes('call failed')) fail(`the node met a fault of its own:\n${node.said.slice(-4000)}`)
} catch (error) {
  fail(error.message)
} finally {
  for (const child of children) child.kill()
  await sleep(200)
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function fail(what) {
  failed += 1
  console.log(`✗ ${what}`)
}

async function installed() {
  const mark = join(venv, `schemathesis-${version}`)
  if (existsSync(mark)) return
  await must('python3', ['-m', 'venv', venv])
  await must(join(venv, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`])
  writeFileSync(mark, '')
}

async function must(command, args) {
  const code = await run(command, args)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
}

/** @returns the exit code */
function run(command, args, env = {}) {
  return new Promise((done, broken) => {
    const child = spawn(command, args, {
      cwd: work,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    children.add(child)
    const late = setTimeout(() => {
      console.log(`✗ ${command} took more than ${minutesMax} minutes, and is stopped`)
      child.kill('SIGKILL')
    }, minutesMax * 60_000)
    child.once('error', broken)
    child.once('exit', (code) => {
      clearTimeout(late)
      children.delete(child)
      done(code ?? 1)
    })
  })
}

/** A node on a port of its own, on 127.0.0.1; it ends with this process. */
async function serve() {
  const data = join(work, 'data')
  const args = [program, 'serve', '--port', '0', '--data', data]
  const child = spawn(process.execPath, args, {
    // No call of it leaves this machine: the chats that schemathesis makes up are told nothing.
    env: { ...process.env, ROUSE_RATE_LIMIT: 'off', ROUSE_TELEGRAM_API: 'http://127.0.0.1:9' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const node = { url: '', key: '', said: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      node.said = `${node.said}${chunk}`.slice(-200_000)
    })
  for (let waited = 0; !node.said.includes('Rouse is up'); waited += 50) {
    if (child.exitCode !== null || waited > 30_000) throw new Error(`the node did not start: ${node.said}`)
    await sleep(50)
  }
  return Object.assign(node, JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8')))
}

async function answer({ url, key }, method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

/** Parameters that lead somewhere, the special before the general: the first that fits an operation holds. */
function settings(places) {
  return places
    .map(([method, path, parameters]) => {
      const shape = `^${path.replaceAll(/[{}.]/g, '\\$&').replace(/\*$/, '(/.*)?')}$`
      const given = Object.entries(parameters).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
      const which = method === '' ? '' : `include-method = '${method}'\n`
      return `[[operations]]\ninclude-path-regex = '${shape}'\n${which}parameters = { ${given.join(', ')} }\n`
    })
    .join('\n')
}
