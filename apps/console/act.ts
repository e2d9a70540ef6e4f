import { useRef, useState } from 'preact/hooks'
import { Problem } from './api.ts'
import { acted } from './live.ts'
import { tell } from './parts/toasts.tsx'
import { sentence } from './parts/words.tsx'

/**
 * Does something once at a time, says what became of it, and looks at everything on screen again.
 *
 * @returns `act` answers whether it went well; `busy` while it is under way, for `aria-disabled`: a button that is `disabled` loses the focus
 */
export function useAct(): {
  readonly busy: boolean
  readonly act: (
    doing: () => Promise<unknown>,
    done?: string,
    o?: { onProblem?: (p: Problem) => void },
  ) => Promise<boolean>
} {
  const [busy, setBusy] = useState(false)
  // Two clicks may come before anything is drawn again.
  const under = useRef(false)
  return {
    busy,
    async act(doing, done, o = {}) {
      if (under.current) return false
      under.current = true
      setBusy(true)
      try {
        await doing()
        if (done !== undefined) tell(done)
        return true
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (o.onProblem === undefined) tell(sentence(error.detail), 'failed')
        else o.onProblem(error)
        return false
      } finally {
        under.current = false
        setBusy(false)
        // Once a page that was left is gone: what is deleted is not asked for again.
        setTimeout(acted, 0)
      }
    },
  }
}
