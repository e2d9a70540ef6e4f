import { isId } from './ids.ts'
import { limits } from './limits.ts'
import { nameFault, textFault } from './names.ts'
import { type FieldError, Refused } from './refused.ts'

/** Where the end of a run is told, as `deliver` of a schedule names it. */
export type Target =
  | { readonly kind: 'webhook'; readonly url: string }
  | { readonly kind: 'telegram'; readonly chat: string }
  | { readonly kind: 'sns'; readonly topic: string }
  | { readonly kind: 'session'; readonly session: string }
  /** A card in the feed of the schedule's person. */
  | { readonly kind: 'feed'; readonly group: string | null }

export type TargetRead = { readonly target: Target } | { readonly fault: string }

const shapes = 'webhook:https://…, telegram:<chat id>, sns:<topic arn>, session:<ses_…> or feed:<group>'

/** Reads one target. What it says of a fault quotes nothing: a webhook's address may hold a secret. */
export function readTarget(uri: string): TargetRead {
  const fault = (text: string): TargetRead => ({ fault: text })
  if (uri.length > limits.deliverCharsMax)
    return fault(`expected at most ${limits.deliverCharsMax} characters, got ${uri.length}`)
  const unprintable = textFault(uri)
  if (unprintable !== null) return fault(unprintable)
  const colon = uri.indexOf(':')
  const rest = uri.slice(colon + 1)
  switch (colon < 0 ? '' : uri.slice(0, colon)) {
    case 'webhook':
      return webhookFault(rest) === null ? { target: { kind: 'webhook', url: rest } } : fault(webhookFault(rest)!)
    case 'telegram':
      return /^(-?[1-9]\d{0,15}|@[A-Za-z]\w{3,31})$/.test(rest)
        ? { target: { kind: 'telegram', chat: rest } }
        : fault("expected telegram:<chat id>, a number such as 123456789 or a channel's @name")
    case 'sns':
      return /^arn:aws(-[a-z]+)*:sns:[a-z]{2}(-[a-z]+)+-\d{1,2}:\d{12}:[\w-]{1,251}(\.fifo)?$/.test(rest)
        ? { target: { kind: 'sns', topic: rest } }
        : fault('expected sns:<topic arn>, such as sns:arn:aws:sns:eu-west-1:123456789012:runs')
    case 'session':
      return isId('ses', rest) ? { target: { kind: 'session', session: rest } } : fault('expected session:<ses_…>')
    case 'feed': {
      const bad = rest === '' ? null : nameFault(rest)
      return bad === null ? { target: { kind: 'feed', group: rest === '' ? null : rest } } : fault(bad)
    }
    default:
      return fault(`expected ${shapes}`)
  }
}

function webhookFault(text: string): string | null {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text))
    return 'expected webhook: and an address that begins with https:// or http://'
  const url = new URL(text)
  return url.username === '' && url.password === ''
    ? null
    : 'the address holds a user name or a password: put what the receiver needs into its query, or let it check the signature'
}

/**
 * Reads the `deliver` of a schedule.
 *
 * @throws Refused `body_invalid` naming each one that does not fit
 */
export function readTargets(uris: readonly string[]): Target[] {
  const faults: FieldError[] = []
  const targets = uris.map((uri, nth): Target | null => {
    const read = readTarget(uri)
    const fault = 'fault' in read ? read.fault : uris.indexOf(uri) < nth ? 'is named twice' : null
    if (fault !== null) faults.push({ path: `deliver.${nth}`, message: fault })
    return fault === null && 'target' in read ? read.target : null
  })
  if (uris.length > limits.deliverTargetsMax)
    faults.push({ path: 'deliver', message: `expected at most ${limits.deliverTargetsMax}, got ${uris.length}` })
  if (faults.length > 0) throw deliverRefused(faults)
  return targets.filter((target) => target !== null)
}

export const deliverRefused = (faults: readonly FieldError[]): Refused =>
  new Refused('body_invalid', `${faults[0]!.path}: ${faults[0]!.message}`, faults)
