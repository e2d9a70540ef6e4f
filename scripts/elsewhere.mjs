import { readFile } from 'node:fs/promises'

/**
 * What the AWS SDK carries for other surroundings than a function on Lambda: the end of a file's path, and what stands there in the bundles.
 */
const instead = [
  // DynamoDB's endpoint discovery is switched on by nobody: what would remember its answers is an LRU cache in three packages.
  { file: '@aws-sdk/endpoint-cache/dist-es/EndpointCache.js', contents: 'export class EndpointCache {}' },
  // There is no file with settings, and no metadata service that would have to be asked for the region: both stand in the environment.
  {
    file: '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js',
    contents: `export const CONFIG_PREFIX_SEPARATOR = '.'
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} })`,
  },
  {
    file: '@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js',
    contents: 'export const getInstanceMetadataRegion = async () => undefined',
  },
  // The clients bring their own retries.
  {
    file: '@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js',
    contents: `export class AdaptiveRetryStrategy {
        constructor() { throw new Error('AWS_RETRY_MODE=adaptive is not in this bundle; take standard') }
      }`,
  },
  // There is a node:crypto.
  { file: '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js', contents: 'export const Sha256Js = null' },
  { file: '@smithy/core/dist-es/submodules/checksum/md5/Md5Js.js', contents: 'export const Md5Js = null' },
]

/** A plugin of esbuild that leaves it out. @throws Error when the SDK has no such file any more */
export const withoutElsewhere = {
  name: 'without-elsewhere',
  setup(build) {
    const met = new Set()
    for (const { file, contents } of instead)
      build.onLoad({ filter: new RegExp(`/node_modules/${file.replaceAll('.', '\\.')}$`) }, () => {
        met.add(file)
        return { contents, loader: 'js' }
      })
    // Each client reads its own version for the user agent.
    build.onLoad({ filter: /\/node_modules\/@aws-sdk\/[^/]+\/package\.json$/ }, async ({ path }) => ({
      contents: JSON.stringify({ version: JSON.parse(await readFile(path, 'utf8')).version }),
      loader: 'json',
    }))
    build.onEnd(({ errors }) => {
      const missed = instead.filter(({ file }) => !met.has(file))
      if (errors.length === 0 && missed.length > 0)
        return {
          errors: missed.map(({ file }) => ({ text: `${file} is in the SDK no more; look at what took its place` })),
        }
    })
  },
}
