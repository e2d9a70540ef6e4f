/**
 * The morning-brief: reads what the scouts uploaded, waits for late ones, checks each item, and posts those that hold as cards.
 *
 *   node writer.mjs <scout>…
 *
 * BRIEF_WAIT_SECONDS: how long late scouts are waited for (default 900, a quarter of an hour).
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { briefPath, itemsIn, pathOf, rouse, today } from './rouse.mjs'

const labels = ['money', 'promise', 'decide', 'nudge', 'risk', 'fyi']

const scouts = process.argv.slice(2)
if (scouts.length === 0) {
  console.error('expected the names of the scouts, got none: node writer.mjs calendar mail')
  process.exit(2)
}
const waitSeconds = Number(process.env.BRIEF_WAIT_SECONDS || 900)
if (!(waitSeconds >= 0)) throw new Error(`BRIEF_WAIT_SECONDS: expected seconds, got ${process.env.BRIEF_WAIT_SECONDS}`)

const day = today()
const group = groupOf(day)
const delivered = await gathered()
const missing = scouts.filter((scout) => !delivered.has(scout))

const [cards, refused] = [[], []]
for (const [scout, markdown] of delivered)
  for (const item of itemsIn(markdown)) {
    const fault = faultOf(item)
    if (fault !== null) refused.push(`${scout}: "${item.title}" ${fault}`)
    else
      cards.push({
        title: item.title,
        body: `${item.text}\n\nEvidence (${scout}): ${item.evidence}`.trim(),
        label: item.label,
        loop: item.loop,
      })
  }
const missed = missing.map((scout) => ({
  title: `The ${scout} scout did not deliver`,
  body: `There was no ${briefPath(day, scout)} after waiting ${waitSeconds} s: this brief knows nothing of ${scout}.`,
  label: 'risk',
  loop: `brief ${scout} missing`,
}))
// The feed shows the newest card of a group first: what leads the brief is posted last.
let posted = 0
for (const card of [...missed, ...cards].reverse()) if (await post({ ...card, group })) posted++

console.log(`${group}: ${posted} cards from ${[...delivered.keys()].join(', ') || 'nobody'}`)
for (const scout of missing) console.log(`did not deliver: ${scout}`)
for (const text of refused) console.log(`left out: ${text}`)

/** The documents that are there, in the order of the scouts, as soon as all are or the time is up. */
async function gathered() {
  const documents = new Map()
  for (const until = Date.now() + waitSeconds * 1000; ; ) {
    for (const scout of scouts.filter((name) => !documents.has(name))) {
      const answer = await rouse('GET', pathOf(briefPath(day, scout)))
      if (answer.ok) documents.set(scout, await answer.text())
    }
    const leftMs = until - Date.now()
    if (documents.size === scouts.length || leftMs <= 0)
      return new Map(scouts.filter((name) => documents.has(name)).map((name) => [name, documents.get(name)]))
    await sleep(Math.min(leftMs, waitSeconds * 20, 15_000))
  }
}

/** Why an item may not be told as a fact; null when it may. */
function faultOf({ title, label, loop, evidence }) {
  if (title === '') return 'has no title'
  if (!labels.includes(label)) return `has no label of ${labels.join(', ')}`
  if (loop === '') return 'has no loop key'
  return evidence === '' ? 'has no evidence' : null
}

/** Run again on the same day, the same card is not counted as seen once more. One that Rouse does not take stops no other. */
async function post(card) {
  const body = JSON.stringify(card)
  const key = createHash('sha256').update(`${day}\n${body}`).digest('hex')
  try {
    await rouse('POST', '/v1/feed', { body, headers: { 'idempotency-key': key } })
    return true
  } catch (error) {
    if (error.status !== 422) throw error
    refused.push(`"${card.title}" ${error.message}`)
    return false
  }
}

function groupOf(isoDay) {
  const month = new Date(`${isoDay}T00:00:00Z`).toLocaleString('en', { month: 'short', timeZone: 'UTC' })
  return `Morning brief ${Number(isoDay.slice(8))} ${month}`
}
