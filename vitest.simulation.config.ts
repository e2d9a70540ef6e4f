import { defineConfig } from 'vitest/config'

/** Whole histories on every core, and planted faults. One worker: each suite has threads of its own. */
export default defineConfig({
  test: {
    include: ['test/simulation/**/*.simulation.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
