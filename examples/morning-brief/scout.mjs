/**
 * A brief-scout: looks at one source and uploads what it found, with the evidence for each item, as
 * briefs/<YYYY-MM-DD>/<scout>.md.
 *
 *   node scout.mjs calendar | mail
 *
 * The sources here are JSON files in sources/ (or BRIEF_SOURCES). Put your calendar's and mailbox's API in their place, or an agent:
 * only the document counts.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { briefPath, documentOf, pathOf, rouse, today } from './rouse.mjs'

const found = {
  calendar: ({ id, start, title, prepare }) => ({
    title: `${start.slice(11, 16)} ${title}`,
    label: prepare ? 'promise' : 'fyi',
    loop: `calendar ${id}`,
    evidence: `event ${id}, ${start}`,
    text: prepare ? `To prepare: ${prepare}` : '',
  }),
  mail: ({ id, from, subject, received, asks }) => ({
    title: asks ? `${from} asks: ${asks}` : subject,
    label: asks ? 'decide' : 'fyi',
    loop: `mail ${id}`,
    // A message without an id is hearsay; the writer leaves it out.
    evidence: id ? `message ${id} of ${received}: "${subject}"` : '',
    text: '',
  }),
}

const [scout = ''] = process.argv.slice(2)
if (!Object.hasOwn(found, scout)) {
  console.error(`expected one of ${Object.keys(found).join(', ')}; got "${scout}"`)
  process.exit(2)
}
const folder = process.env.BRIEF_SOURCES || fileURLToPath(new URL('sources', import.meta.url))
const entries = JSON.parse(await readFile(join(folder, `${scout}.json`), 'utf8'))
const items = entries.map(found[scout])
const day = today()
const path = briefPath(day, scout)
const answer = await rouse('PUT', pathOf(path), { body: documentOf(scout, day, items), type: 'text/markdown' })
console.log(`${path}, version ${(await answer.json()).version}: ${items.length} items`)
