/**
 * Reads ROUSE_EXPERIMENTAL_PROACTIVE, the deployment's switch of ticks: `0` or `off` closes it for every agent; unset, `1` or `on` leaves it to
 * them.
 *
 * @throws Error naming the variable when it is neither: a switch that was misspelt must not stay open
 */
export function proactiveFromEnv(env: Readonly<Record<string, string | undefined>>): boolean {
  const text = env.ROUSE_EXPERIMENTAL_PROACTIVE ?? ''
  if (['', '1', 'on', 'true'].includes(text)) return true
  if (['0', 'off', 'false'].includes(text)) return false
  throw new Error(`ROUSE_EXPERIMENTAL_PROACTIVE: expected 0 or 1, got "${text}"`)
}
