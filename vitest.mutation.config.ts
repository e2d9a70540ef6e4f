import { defineConfig } from 'vitest/config'

/** The tests of the pure core alone, for mutation testing: what needs no engine, store or server. */
export default defineConfig({
  test: {
    include: ['test/time/**/*.test.ts', 'test/domain/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 30_000,
  },
})
