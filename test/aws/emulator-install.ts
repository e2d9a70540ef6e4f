import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Other versions behave otherwise: what the tests skip was found out on this one. */
const version = '1.5.33'
const venv = join(import.meta.dirname, '../../.venv-aws')
const run = promisify(execFile)

/**
 * The emulator's program, installed into `.venv-aws` when it is not there yet.
 *
 * @throws Error that says what is missing and what to install
 */
export async function installedEmulator(): Promise<string> {
  const python = join(venv, 'bin/python')
  if ((await versionIn(python)) !== version) {
    await makeVenv(python)
    await install(python)
    const found = await versionIn(python)
    if (found !== version) throw new Error(`${venv} has MiniStack ${found} and not ${version}: delete it and try again`)
  }
  return join(venv, 'bin/ministack')
}

/** Null when there is none, or no Python. */
async function versionIn(python: string): Promise<string | null> {
  const code = 'import importlib.metadata as m; print(m.version("ministack"))'
  return await run(python, ['-c', code]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )
}

async function makeVenv(python: string) {
  const system = await systemPython()
  const reuse = await run(python, ['-m', 'pip', '--version']).then(
    () => true,
    () => false,
  )
  if (reuse) return
  await run(system, ['-m', 'venv', '--clear', venv]).catch((error) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(
      `the tests on AWS need Python's venv with pip, which ${system} has not got: install it (on Debian and Ubuntu: apt-get install python3-venv)\n${stdout}${stderr}`,
    )
  })
}

async function systemPython(): Promise<string> {
  for (const name of ['python3', 'python']) {
    const major = await run(name, ['-c', 'import sys; print(sys.version_info[0])']).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    )
    if (major === '3') return name
  }
  throw new Error(
    'the tests on AWS need Python 3 for the emulator, and there is no python3 on the PATH: install it (on Debian and Ubuntu: apt-get install python3 python3-venv)',
  )
}

async function install(python: string) {
  const wanted = `ministack==${version}`
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wanted]).catch((error) => {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(
      `the tests on AWS need ${wanted} from Python's package index, and pip could not install it: check the network\n${stderr}`,
    )
  })
}
