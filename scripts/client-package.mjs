// Packs the package as it would be published, installs it in a project of its own, and holds `rouse/client` against what it promises: examples/client
// compiles with `tsc --strict` on the types that are in the package, and runs against a node from the same package, over HTTP; the types are those of
// the app. Needs a build and the npm registry: `node scripts/client-package.mjs`. Prints `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'rouse-client-package-'))
const project = join(work, 'project')
const tsc = join(root, 'node_modules/typescript/bin/tsc')
let passed = 0
let failed = 0
let node = null

try {
  const packed = must('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', work], root)
  const { filename, files } = JSON.parse(packed)[0]
  const names = files.map(({ path }) => path)
  check(
    'the package has the client and its types',
    names.includes('dist/client.js') && names.includes('dist/client.d.ts'),
  )
  check('the package has the page of /docs', names.includes('dist/docs/index.html'))
  mkdirSync(project)
  cpSync(join(root, 'examples/client'), project, { recursive: true })
  rmSync(join(project, 'package.json'))
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const types = `@types/node@${devDependencies['@types/node']}`
  must('npm', ['install', '--no-audit', '--no-fund', '--prefix', project, join(work, filename), types], project)
  must('npm', ['pkg', 'set', 'type=module'], project)
  check('examples/client compiles', succeeds(process.execPath, [tsc, '-p', project], project))
  check('the types are those of the app', succeeds(process.execPath, [tsc, '-p', join(root, 'test/contract')], root))
  node = await serve()
  const env = { ROUSE_URL: node.url, ROUSE_KEY: node.key }
  for (const turn of ['the example runs', 'it runs again: what is there is found']) {
    const said = must(process.execPath, [join(project, 'out/brief.js')], project, env)
    check(
      turn,
      /^Morning brief: .*\n( {2}\d{4}-\d\d-\d\dT08:00:00\+0[12]:00\[Europe\/Amsterdam\]\n){3}$/.test(said),
      said,
    )
  }
} catch (error) {
  check(error.message, false)
} finally {
  node?.child.kill()
  await sleep(200)
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function check(what, holds, said = '') {
  if (holds) passed += 1
  else failed += 1
  console.log(`${holds ? '✓' : '✗'} ${what}${holds || said === '' ? '' : `\n${said}`}`)
}

function run(command, args, cwd, env = {}) {
  return spawnSync(command, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 300_000 })
}

function must(command, args, cwd, env) {
  const { status, stdout, stderr } = run(command, args, cwd, env)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

function succeeds(command, args, cwd) {
  const { status, stdout } = run(command, args, cwd)
  if (status !== 0) console.log(stdout)
  return status === 0
}

async function serve() {
  const data = join(work, 'data')
  const program = join(project, 'node_modules/rouse/dist/rouse.js')
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  for (let waited = 0; !said.includes('Rouse is up'); waited += 50) {
    if (child.exitCode !== null || waited > 30_000) throw new Error(`the node did not start: ${said}`)
    await sleep(50)
  }
  return { child, ...JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8')) }
}
