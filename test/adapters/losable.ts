import type { StoreFile } from '../../shared/adapters/sqlite/file.ts'

/** A file whose log can be told to fail, as on a full disk; with `slow`, an append takes turns of the event loop, as a disk does. */
export function losable(file: StoreFile, slow = false): { file: StoreFile; lose(on: boolean): void } {
  let losing = false
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    file: {
      ...file,
      log: {
        entries: () => file.log.entries(),
        append(n, entry) {
          const fails = losing
          if (!slow) {
            if (fails) return Promise.reject(full)
            return file.log.append(n, entry)
          }
          return (async () => {
            await turn()
            await turn()
            if (fails) throw full
            await file.log.append(n, entry)
            await turn()
          })()
        },
        get size() {
          return file.log.size
        },
        drop: (upTo) => file.log.drop(upTo),
        close: (empty) => file.log.close(empty),
      },
    },
    lose(on) {
      losing = on
    },
  }
}
