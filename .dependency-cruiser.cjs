// The floors of ARCHITECTURE.md: imports go down only. A test runs the same rules, so that a breach fails `npm test` too.
const floor = (name, from, notTo) => ({ name, severity: 'error', from: { path: from }, to: { path: notTo } })
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    floor('time-stands-alone', '^shared/time/', '^(shared/(?!time/)|apps/|functions/|infra/|test/)'),
    floor('schema-knows-time-only', '^shared/schema/', '^(shared/(?!schema/|time/)|apps/|functions/|infra/|test/)'),
    floor('cel-stands-alone', '^shared/cel/', '^(shared/(?!cel/)|apps/|functions/|infra/|test/)'),
    {
      name: 'cel-has-two-libraries',
      severity: 'error',
      from: { path: '^shared/cel/' },
      to: { dependencyTypes: ['npm'], pathNot: 'node_modules/(@marcbachmann/cel-js|re2js)/' },
    },
    floor(
      'domain-knows-time-only',
      '^shared/domain/',
      '^(shared/(?!time/|cel/|domain/)|apps/|functions/|infra/|test/)',
    ),
    floor('ports-know-no-engine', '^shared/ports/', '^(shared/(engine|api|adapters)/|apps/|functions/|infra/|test/)'),
    floor('engine-knows-no-adapter', '^shared/engine/', '^(shared/(api|adapters)/|apps/|functions/|infra/|test/)'),
    floor('api-knows-no-adapter', '^shared/api/', '^(shared/adapters/|apps/|functions/|infra/|test/)'),
    floor('adapters-know-ports-only', '^shared/adapters/', '^(shared/(engine|api)/|apps/|functions/|infra/|test/)'),
    floor('product-knows-no-test', '^(shared|apps|functions|infra)/', '^(test|bench)/'),
    {
      name: 'core-is-pure',
      severity: 'error',
      from: { path: '^shared/(time|domain)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'engine-has-no-sdk',
      severity: 'error',
      from: { path: '^shared/(ports|engine)/' },
      to: { dependencyTypes: ['npm'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
}
