import { useEffect, useState } from 'preact/hooks'
import { askSession, call, Problem } from './api.ts'
import { Field } from './parts/field.tsx'
import { Mark } from './parts/mark.tsx'

/** Shows a key once; from then on the browser holds a cookie that scripts cannot read. */
export function SignIn() {
  const [key, setKey] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Rouse'
  }, [])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setFault(null)
    try {
      await call('POST', '/console/sign-in', { key })
      await askSession()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      setFault(error.detail)
      setBusy(false)
    }
  }
  return (
    <main class="alone sign-in">
      <form onSubmit={submit}>
        <Mark />
        <h1>Sign in to Rouse</h1>
        <p class="lead">What wakes your agents, when, and what became of it.</p>
        <Field label="Your key" fault={fault}>
          {(control) => (
            <input
              {...control}
              type="password"
              autocomplete="current-password"
              spellcheck={false}
              required
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
              placeholder="rsp_…"
            />
          )}
        </Field>
        <button type="submit" class="primary wide" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
        <section aria-labelledby="where">
          <h2 id="where">Where is my key?</h2>
          <dl>
            <dt>On your own machine</dt>
            <dd>
              In <code>.rouse/credentials.json</code>, in the folder where <code>npm start</code> runs.
            </dd>
            <dt>In AWS</dt>
            <dd>
              <code>npx rouse admin bootstrap --stack Rouse-dev</code> prints the first one, once.
            </dd>
            <dt>Somebody runs Rouse for you</dt>
            <dd>
              They make one with <code>npx rouse person add</code>. An agent’s key does not open the console.
            </dd>
          </dl>
        </section>
      </form>
    </main>
  )
}
