import { defineConfig } from 'vite'

/** The console as static files: no inline script and no inline style, since the policy that it is served under allows neither. */
export default defineConfig({
  root: `${import.meta.dirname}/apps/console`,
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: `${import.meta.dirname}/dist/console`,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A picture as `data:` would stand in the style sheet twice, and save a call that is cached for a year.
    assetsInlineLimit: 0,
  },
  logLevel: 'warn',
})
