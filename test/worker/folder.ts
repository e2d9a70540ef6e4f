import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** An agent's folder, with scripts in it. */
export class Folder {
  readonly dir = mkdtempSync(join(tmpdir(), 'rouse-folder-'))

  write(path: string, text: string, mode = 0o644): string {
    const file = join(this.dir, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }

  /** An executable shell script. */
  script(path: string, ...lines: string[]): string {
    return this.write(path, `#!/bin/sh\n${lines.join('\n')}\n`, 0o755)
  }

  read(path: string): string {
    return readFileSync(join(this.dir, path), 'utf8')
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie that nobody has collected yet is not alive.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
