import { session } from '../api.ts'

/** Whoever looks is `you`; the API names other people by id only. */
export const personName = (id: string): string => (id === session.value?.person?.id ? 'you' : `person ${id.slice(-5)}`)

/** `you`, or `scout, for you`: who asked, and in whose name. */
export function askedBy(
  o: { readonly person: string; readonly agent: string | null },
  agent: (id: string) => string,
): string {
  const person = personName(o.person)
  return o.agent === null ? person : `${agent(o.agent)}, for ${person}`
}
