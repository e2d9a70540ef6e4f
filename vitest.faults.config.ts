import { defineConfig } from 'vitest/config'

// Every request of every journey meets every fault, some two thousand little histories; and herds of ten thousand.
export default defineConfig({
  test: {
    include: ['test/{faults,scale}/*.faults.ts'],
    setupFiles: ['test/setup.ts'],
    maxWorkers: 2,
    testTimeout: 600_000,
  },
})
