import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { askSession, Problem, session } from './api.ts'
import { Questions } from './parts/dialog.tsx'
import { Fault } from './parts/states.tsx'
import { Toasts } from './parts/toasts.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const fault = signal<Problem | null>(null)

async function ask(): Promise<void> {
  try {
    await askSession()
    fault.value = null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    fault.value = error
  }
}

/** Sign-in, or the shell with its pages. */
export function App() {
  useEffect(() => void ask(), [])
  const known = session.value
  return (
    <>
      {known === null ? (
        fault.value === null ? null : (
          <main class="alone">
            <Fault problem={fault.value} retry={() => void ask()} />
          </main>
        )
      ) : known.person === null ? (
        <SignIn />
      ) : (
        <Shell person={known.person} />
      )}
      <Questions />
      <Toasts />
    </>
  )
}
