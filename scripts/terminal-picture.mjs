// Types commands into a real terminal against a node of its own and draws what was seen as an SVG that plays itself:
//   npm run build && node scripts/terminal-picture.mjs     writes docs/pictures/terminal.svg
// `script` of util-linux is the terminal. The node's clock stands still, so that a new picture differs in ids alone.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const columns = 100
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const weight = /(\u001b\[\d+m)/
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const folder = mkdtempSync(join(tmpdir(), 'rouse-picture-'))
const node = spawn(
  process.execPath,
  [join(root, 'dist/rouse.js'), 'serve', '--port', '0', '--data', folder, '--clock', '2026-03-26T08:12:00Z'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)

/** What a terminal shows of one command, its colours as escapes. */
function typed(line) {
  const command = line.replace(/^rouse /, `'${process.execPath}' '${join(root, 'dist/rouse.js')}' `)
  const text = execFileSync('script', ['-qec', `stty cols ${columns} rows 50; ${command}`, '/dev/null'], {
    encoding: 'utf8',
    env: { ...process.env, ROUSE_DATA: folder, NO_COLOR: '', TERM: 'xterm-256color' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return text.replaceAll('\r\n', '\n').trimEnd()
}

try {
  await new Promise((resolve, reject) => {
    node.stdout.on('data', (chunk) => String(chunk).includes('is up at') && resolve())
    node.once('exit', () => reject(new Error('the node did not start')))
  })
  const scenes = []
  const scene = (line) => {
    const said = typed(line)
    scenes.push({ line, said })
    return said
  }
  typed('rouse agent add assistant')
  const session = /ses_\w+/.exec(typed('rouse session add --agent assistant --title Desk'))[0]
  scene(
    'rouse schedule add "Morning brief" --agent assistant --prompt "Write the brief." --cron "0 8 * * 1-5" --tz Europe/Amsterdam',
  )
  typed(`rouse schedule add "Water the plants" --session ${session} --prompt "Ask whether they are." --every 20h`)
  typed(`rouse monitor add --session ${session} --note "Minutes transcribed" --in 20h`)
  scene('rouse agenda --hours 48 --tz Europe/Amsterdam')
  // Over the change to summer time.
  typed('rouse clock --to 2026-03-30T06:05:00Z')
  scene('rouse why "Morning brief"')
  writeFileSync(join(root, 'docs/pictures/terminal.svg'), drawn(scenes))
} finally {
  node.kill()
  await once(node, 'exit')
  rmSync(folder, { recursive: true, force: true })
}

function drawn(scenes) {
  const [cell, leading, top, left] = [8.4, 20, 56, 20]
  const rows = []
  let at = 0.4
  for (const { line, said } of scenes) {
    const typing = Math.min(2, line.length * 0.03)
    for (const [i, text] of wrapped(`$ ${line}`).entries()) rows.push({ text, at: at + i * 0.3, kind: 'typed' })
    at += typing + 0.5
    for (const text of said.split('\n')) rows.push({ text, at, kind: 'said' })
    rows.push({ text: '', at, kind: 'said' })
    at += 1.4
  }
  rows.pop()
  const [width, height] = [columns * cell + 2 * left, top + rows.length * leading + 16]
  const lines = rows.map(
    ({ text, at: when, kind }, i) =>
      `<text class="${kind}" y="${top + i * leading}" x="${left}" style="animation-delay:${when.toFixed(1)}s">${spans(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Commands of rouse in a terminal and what they answer">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dce2;white-space:pre;opacity:0;animation:come .15s linear forwards}
.typed{fill:#fff;font-weight:600}.dim{fill:#8b949e}.bold{font-weight:700;fill:#fff}
@keyframes come{to{opacity:1}}
@media (prefers-reduced-motion:reduce){text{animation:none;opacity:1}}
</style>
<rect width="100%" height="100%" rx="10" fill="#14181d"/>
<circle cx="22" cy="20" r="6" fill="#3b424b"/><circle cx="42" cy="20" r="6" fill="#3b424b"/><circle cx="62" cy="20" r="6" fill="#3b424b"/>
${lines.join('\n')}
</svg>
`
}

/** As one types a line that is too long for the screen: broken between words. */
function wrapped(text) {
  const lines = ['']
  for (const word of text.split(/(?= --)/)) {
    if (lines.at(-1).length + word.length > columns - 2) lines.push(`   ${word}`)
    else lines.push(lines.pop() + word)
  }
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} \\` : line))
}

/** Bold and dim of the terminal as classes; everything else is text. */
function spans(text) {
  let [out, kind] = ['', '']
  for (const part of text.split(weight)) {
    if (part === '\u001b[1m') kind = 'bold'
    else if (part === '\u001b[2m') kind = 'dim'
    else if (part.startsWith('\u001b')) kind = ''
    else if (part !== '') out += kind === '' ? escaped(part) : `<tspan class="${kind}">${escaped(part)}</tspan>`
  }
  return out
}
