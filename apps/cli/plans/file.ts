import { readFile } from 'node:fs/promises'
import { UsageError } from '../report.ts'
import { readInput } from '../shell.ts'

/** @throws UsageError when it cannot be read, or is no text */
export async function fileText(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (file === '-') return await readInput(stdin)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(code?.startsWith('E') ? `${file} cannot be read: ${code}` : `${file} is no text in UTF-8`)
  }
}
