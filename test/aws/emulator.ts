import type { TestProject } from 'vitest/node'
import { type Emulator, startEmulator } from './emulator-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The emulator's address, and the region it stands for. */
    readonly aws: { readonly endpoint: string; readonly region: string }
  }
}

/** What an SDK, the CDK and the functions need to find the emulator and nothing else. */
export const emulatorEnv = ({ endpoint, region }: Pick<Emulator, 'endpoint' | 'region'>) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
})

/** vitest's global setup: one emulator for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const emulator = await startEmulator()
  // The workers are started after this and take over the environment.
  Object.assign(process.env, emulatorEnv(emulator))
  // Whoever runs this may be signed in to an account of his own.
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_DEFAULT_REGION']) delete process.env[name]
  project.provide('aws', { endpoint: emulator.endpoint, region: emulator.region })
  return async () => {
    const failed = project.vitest.state.getCountOfFailedTests() > 0
    await emulator.stop({ keepLog: failed })
    if (failed) console.error(`what the emulator said: ${emulator.log}`)
  }
}
