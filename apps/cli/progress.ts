import spinner, { type Spinner } from 'yocto-spinner'
import { printable } from './screen.ts'
import type { Io } from './shell.ts'

/** How far long work has come, on a terminal only: it goes to standard error, and is gone when the answer comes. */
export interface Progress {
  /** @param text  `12 of 40 traces` */
  at(text: string): void
  end(): void
}

export function createProgress({ stderr, env }: Pick<Io, 'stderr' | 'env'>): Progress {
  const isShown = (stderr as { isTTY?: boolean }).isTTY === true && env.TERM !== 'dumb'
  let shown: Spinner | null = null
  return {
    at(text) {
      if (!isShown) return
      // The signals stay with the command, which knows how to stop.
      shown ??= spinner({ stream: stderr as NodeJS.WriteStream, handleSignals: false }).start()
      shown.text = printable(text)
    },
    end() {
      shown?.stop()
      shown = null
    },
  }
}
