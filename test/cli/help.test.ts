import { expect, test } from 'vitest'
import { rouse } from './rouse.ts'

/** Commands that answer nothing: they run until they are stopped, or print a script. */
const withoutAnswer = ['serve', 'mcp', 'completion']

const helps = await leaves([])

async function leaves(words: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const { stdout } = await rouse([...words, '--help'])
  const listed = /^Commands:\n((?: {2}.*\n)+)/m.exec(stdout)?.[1] ?? ''
  const names = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map((match) => match[1]!).filter((name) => name !== 'help')
  if (names.length === 0) return [[words.join(' '), stdout]]
  const found: (readonly [string, string])[] = []
  for (const name of names) found.push(...(await leaves([...words, name])))
  return found
}

test('every command is reached', () => {
  expect(helps.length).toBeGreaterThan(70)
})

test('the help of every command shows an example that begins with the command', () => {
  const without = helps.filter(([, help]) => !/\nExample:\n {2}\$ .*rouse /.test(help)).map(([name]) => name)
  expect(without).toEqual([])
})

test('every command that answers something can answer in JSON', () => {
  const without = helps.filter(([, help]) => !help.includes('--json')).map(([name]) => name)
  expect(without.sort()).toEqual([...withoutAnswer].sort())
})

test('every command that only looks can look again and again', () => {
  const watched = helps.filter(([, help]) => help.includes('--watch')).map(([name]) => name)
  for (const name of ['agenda', 'why', 'schedule runs', 'inbox', 'feed list', 'doc get', 'session list', 'ticks show'])
    expect(watched).toContain(name)
})
