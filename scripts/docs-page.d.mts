export function copyDocs(outdir: string): Promise<void>
