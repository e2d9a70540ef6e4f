/** A file that is served as it is. */
export interface ServedFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The same, compressed; null where that would save nothing. */
  readonly gzip: Uint8Array<ArrayBuffer> | null
  readonly type: string
  /** Quoted, as the header has it. */
  readonly etag: string
}

/** The file at a path such as `index.html` or `assets/main-x1.js`, or null. Holds nothing but what belongs to the pages. */
export type Files = (path: string) => ServedFile | null
