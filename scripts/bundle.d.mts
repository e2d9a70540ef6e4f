export declare const functionNames: readonly ['api', 'alarm', 'sweep', 'change', 'flow']

export interface BundlePart {
  readonly bytes: number
  /** Paths from the root of the repository. */
  readonly sources: readonly string[]
}

export declare function bundleFunction(
  name: (typeof functionNames)[number],
  o: { readonly outdir: string; readonly write?: boolean },
): Promise<{ readonly start: BundlePart; readonly whole: BundlePart }>
