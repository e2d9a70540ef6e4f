/** What the scripts of this example share: a call of Rouse's API, the day, and a scout's document. */

const { ROUSE_URL, ROUSE_KEY, ROUSE_SESSION, ROUSE_TURN } = process.env

/**
 * Calls Rouse as the agent whose turn this is: `rouse attach` puts all four into the environment.
 *
 * @returns the answer; a 404 is given back, anything else that is no success is thrown
 */
export async function rouse(method, path, { body, type = 'application/json', headers = {} } = {}) {
  if (!ROUSE_URL || !ROUSE_KEY) throw new Error('ROUSE_URL and ROUSE_KEY are not set: run this through `rouse attach`')
  const answer = await fetch(ROUSE_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${ROUSE_KEY}`,
      ...(ROUSE_SESSION ? { 'x-rouse-session': ROUSE_SESSION } : {}),
      ...(ROUSE_TURN ? { 'x-rouse-turn': ROUSE_TURN } : {}),
      ...(body === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
    body,
  })
  if (!answer.ok && answer.status !== 404)
    throw Object.assign(new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`), {
      status: answer.status,
    })
  return answer
}

/** The day that the brief is for, YYYY-MM-DD: today in BRIEF_TZ, or in the zone of this machine. Scouts and writer must agree on it. */
export function today() {
  const { BRIEF_DAY, BRIEF_TZ } = process.env
  // Sweden writes its dates as ISO 8601 does.
  return BRIEF_DAY || new Intl.DateTimeFormat('sv', { timeZone: BRIEF_TZ || undefined }).format(new Date())
}

export const briefPath = (day, scout) => `briefs/${day}/${scout}.md`
export const pathOf = (path) => `/v1/documents/${path.split('/').map(encodeURIComponent).join('/')}`

/** One line: a line break in a title would begin something else in the document. */
const line = (text) => String(text).replace(/\s+/g, ' ').trim()

/** `{title, label, loop, evidence, text}` each, as the Markdown that people can read and `itemsIn` reads back. */
export function documentOf(scout, day, items) {
  const parts = items.map(
    ({ title, label, loop, evidence, text }) =>
      `## ${line(title)}\n\n- label: ${label}\n- loop: ${line(loop)}\n- evidence: ${line(evidence ?? '')}\n\n${line(text ?? '')}\n`,
  )
  return [`# ${scout}, ${day}\n`, ...(parts.length === 0 ? ['Nothing today.\n'] : parts)].join('\n')
}

export function itemsIn(markdown) {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      const item = { title: title.trim(), label: '', loop: '', evidence: '', text: '' }
      for (const text of lines) {
        const [, name, value] = /^- (label|loop|evidence):(.*)$/.exec(text) ?? []
        if (name) item[name] = value.trim()
        else item.text += `${text}\n`
      }
      return { ...item, text: item.text.trim() }
    })
}
