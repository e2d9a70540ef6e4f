import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // The child processes of the journeys and the kill test need room; nothing is timed here.
    // Most of the time goes into nodes that start and stop, so that two files side by side take half of it on two cores.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
