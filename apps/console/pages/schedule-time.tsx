import { Choice, type Control, Field } from '../parts/field.tsx'
import { zones } from '../times.ts'
import type { FormPart } from './schedule-form.tsx'

const presets = {
  cron: [
    ['Weekdays at 8', '0 8 * * 1-5'],
    ['Every day at 8', '0 8 * * *'],
    ['Mondays at 9', '0 9 * * 1'],
    ['Every six hours', '0 */6 * * *'],
    ['First of the month', '0 9 1 * *'],
  ],
  rrule: [
    ['Last weekday of the month', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=17;BYMINUTE=0'],
    ['Every second Monday', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0'],
    ['Second Tuesday', 'FREQ=MONTHLY;BYDAY=2TU;BYHOUR=9;BYMINUTE=0'],
  ],
  every: [
    ['30 minutes', '30m'],
    ['Hour', '1h'],
    ['12 hours', '12h'],
    ['Day', '1d'],
  ],
} as const

/** When it runs, in one of four ways, and in which zone. */
export function TimeFields(part: FormPart) {
  const { draft, set, faultOf } = part
  return (
    <fieldset class="card pad">
      <legend class="hidden">Time</legend>
      <Choice
        label="Time"
        value={draft.time}
        options={[
          ['cron', 'Cron'],
          ['rrule', 'Calendar rule'],
          ['once', 'Once'],
          ['every', 'Every'],
        ]}
        onChange={(time) => set({ time })}
      />
      <Rule {...part} />
      <Field label="Zone" fault={faultOf('tz')} hint="Its clock decides, through summer and winter time.">
        {(control) => (
          <input
            {...control}
            list="zones"
            required
            value={draft.tz}
            placeholder="UTC"
            onInput={(event) => set({ tz: event.currentTarget.value })}
          />
        )}
      </Field>
      <datalist id="zones">
        {zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </fieldset>
  )
}

function Rule({ draft, set, faultOf }: FormPart) {
  switch (draft.time) {
    case 'cron':
      return (
        <>
          <Field label="Cron rule" fault={faultOf('cron')} hint="Minute, hour, day of month, month, weekday.">
            {(control) => (
              <input
                {...control}
                class="mono"
                required
                value={draft.cron}
                onInput={(event) => set({ cron: event.currentTarget.value })}
              />
            )}
          </Field>
          <Presets of={presets.cron} put={(cron) => set({ cron })} />
        </>
      )
    case 'rrule':
      return (
        <>
          <Field label="RRULE" fault={faultOf('rrule')} hint="As calendars write it (RFC 5545).">
            {(control) => (
              <textarea
                {...control}
                class="mono"
                required
                rows={2}
                value={draft.rrule}
                placeholder="FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0"
                onInput={(event) => set({ rrule: event.currentTarget.value })}
              />
            )}
          </Field>
          <Presets of={presets.rrule} put={(rrule) => set({ rrule })} />
          <Field label="Counts from" fault={faultOf('dtstart')} hint="Where an interval begins; empty: now.">
            {(control) => <WallClock {...control} value={draft.dtstart} put={(dtstart) => set({ dtstart })} />}
          </Field>
        </>
      )
    case 'once':
      return (
        <Field label="Day and time" fault={faultOf('at')}>
          {(control) => <WallClock {...control} required value={draft.once} put={(once) => set({ once })} />}
        </Field>
      )
    case 'every':
      return (
        <>
          <Field label="Every" fault={faultOf('every')} hint="From 5 minutes to 7 days: 30m, 12h, 2d.">
            {(control) => (
              <input
                {...control}
                required
                value={draft.every}
                onInput={(event) => set({ every: event.currentTarget.value })}
              />
            )}
          </Field>
          <Presets of={presets.every} put={(every) => set({ every })} />
          <Field label="First time" fault={faultOf('at')} hint="Empty: counted from now.">
            {(control) => <WallClock {...control} value={draft.from} put={(from) => set({ from })} />}
          </Field>
        </>
      )
  }
}

/** A day and a time in the zone of the form. One with an offset of its own is none that a picker can show: it stays text. */
function WallClock(
  o: Control & { readonly value: string; readonly required?: boolean; readonly put: (value: string) => void },
) {
  const { put, value, ...rest } = o
  const isLocal = value === '' || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(value)
  return isLocal ? (
    <input {...rest} type="datetime-local" value={value} onInput={(event) => put(event.currentTarget.value)} />
  ) : (
    <input {...rest} value={value} onInput={(event) => put(event.currentTarget.value)} />
  )
}

function Presets(o: { readonly of: readonly (readonly [string, string])[]; readonly put: (rule: string) => void }) {
  return (
    <ul class="presets" aria-label="Examples">
      {o.of.map(([name, rule]) => (
        <li key={name}>
          <button type="button" class="chip" onClick={() => o.put(rule)}>
            {name}
          </button>
        </li>
      ))}
    </ul>
  )
}
