import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The child processes of the journeys and the kill test need room; nothing is timed here.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
