import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ShownOnce } from '../parts/secret.tsx'
import { Switch } from '../parts/switch.tsx'
import { ownZone, zones } from '../times.ts'

/** An admin's: another person with a key of their own. */
export function People() {
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<{ readonly name: string; readonly key: string } | null>(null)
  return (
    <section class="section" aria-labelledby="people">
      <header>
        <div>
          <h2 id="people">People</h2>
          <p>Each has a key, and sees the agents that are theirs, shared with them, or the team’s.</p>
        </div>
        <button type="button" onClick={() => setNew(true)}>
          <Icon name="plus" /> Add a person
        </button>
      </header>
      {isNew ? (
        <NewPerson
          made={(person) => {
            setNew(false)
            setMade(person)
          }}
          onClose={() => setNew(false)}
        />
      ) : null}
      {made === null ? null : (
        <ShownOnce
          title={`The key of ${made.name}`}
          secret={made.key}
          text="Hand it over in a way that nobody else reads. It signs in here, and it is what ROUSE_KEY takes."
          onClose={() => setMade(null)}
        />
      )}
    </section>
  )
}

function NewPerson(o: {
  readonly made: (person: { readonly name: string; readonly key: string }) => void
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  const [tz, setTz] = useState(ownZone)
  const [admin, setAdmin] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const { act, busy } = useAct()
  const submit = (event: Event): void => {
    event.preventDefault()
    const add = async (): Promise<void> =>
      o.made({ name, key: (await call<{ key: string }>('POST', '/v1/people', { name, tz, admin })).key })
    void act(add, undefined, { onProblem: ({ detail }) => setFault(detail) })
  }
  return (
    <Dialog title="Add a person" onClose={o.onClose}>
      <form onSubmit={submit}>
        <Field label="Name" fault={fault}>
          {(control) => (
            <input
              {...control}
              required
              maxLength={120}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Zone" hint="Where their day begins: limits a day count in it.">
          {(control) => (
            <select {...control} value={tz} onChange={(event) => setTz(event.currentTarget.value)}>
              {zones.map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </select>
          )}
        </Field>
        <Switch
          label="Admin"
          hint="Adds people too. Sees no more of other people’s agents than anybody."
          on={admin}
          onChange={setAdmin}
        />
        <footer>
          <button type="submit" class="primary" aria-disabled={busy}>
            Add
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
