import { defineConfig } from 'vitest/config'

/** What takes a node down: kills, power, disks and clocks. Minutes long, so that it is a suite of its own. */
export default defineConfig({
  test: {
    include: ['test/kill/**/*.kill.ts'],
    setupFiles: ['test/setup.ts'],
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
