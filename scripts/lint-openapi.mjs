// Holds openapi.json against the recommended rules of Redocly's linter, warnings counted as errors. Needs the npm registry:
// `node scripts/lint-openapi.mjs`. Prints what it finds, then `N passed, N failed`: operations looked at, and findings.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeDocument } from './document.mjs'

const linter = '@redocly/cli@2.77.0'
const work = mkdtempSync(join(tmpdir(), 'rouse-lint-openapi-'))
// Nothing is told to, or asked of, its makers.
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
let passed = 0
let failed = 0
try {
  const document = await wholeDocument()
  writeFileSync(join(work, 'openapi.json'), JSON.stringify(document, null, 1))
  writeFileSync(join(work, 'redocly.yaml'), 'extends: [recommended]\n')
  const install = ['install', '--prefix', work, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', linter]
  run('npm', install)
  const { stdout, stderr } = run(process.execPath, [
    join(work, 'node_modules/@redocly/cli/bin/cli.js'),
    ...['lint', 'openapi.json', '--config', 'redocly.yaml', '--format', 'json'],
  ])
  const report =
    stdout.indexOf('{') < 0 ? null : JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1))
  if (report?.totals === undefined) throw new Error(`the linter did not say what it found:\n${stdout}\n${stderr}`)
  for (const { severity, ruleId, message, location } of report.problems)
    console.log(`✗ ${severity} ${ruleId} at ${location?.[0]?.pointer ?? '?'}: ${message}`)
  failed = report.totals.errors + report.totals.warnings
  passed = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length
} catch (error) {
  failed += 1
  console.log(`✗ ${error.message}`)
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function run(command, args) {
  const done = spawnSync(command, args, {
    cwd: work,
    env,
    encoding: 'utf8',
    timeout: 180_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (done.error) throw done.error
  return done
}
