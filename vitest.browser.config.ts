import { defineConfig } from 'vitest/config'

/** The console in a real Chromium, against a real node. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    globalSetup: ['test/browser/chromium.ts', 'test/browser/program.ts'],
    // One browser at a time: two would share two cores with two nodes, and wait for each other.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
