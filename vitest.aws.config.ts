import { defineConfig } from 'vitest/config'

/** The tests against an emulator of AWS, which the global setup installs and starts. One worker: they share it. */
export default defineConfig({
  test: {
    include: ['test/aws/**/*.aws.ts'],
    globalSetup: ['test/aws/emulator.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    // A whole deployment may stand in a hook.
    hookTimeout: 900_000,
    teardownTimeout: 30_000,
  },
})
