import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNames } from '../parts/names.ts'
import { shownIn } from '../times.ts'
import { hourMarks, type Lane, lanesOf, type Mark } from './agenda-lanes.ts'
import { type Agenda, type Entry, kindWords } from './agenda-shapes.ts'

const laneHeight = 46
const headHeight = 30
const narrowPx = 620
const edge = 10

/** The day as a line, one lane for each agent. Whoever cannot see it has the list below, which says the same and more. */
export function AgendaLine(o: { readonly of: Agenda }) {
  const [width, box] = useWidth()
  const names = useNames()
  const { from, to, tz, data } = o.of
  const isNarrow = width < narrowPx
  const left = isNarrow ? edge : 150
  const [start, end] = [Date.parse(from), Date.parse(to)]
  // The first mark stands beside the line of now, not on it.
  const first = left + edge
  const x = (at: number): number =>
    first + ((Math.min(Math.max(at, start), end) - start) / (end - start)) * (width - edge - first)
  const lanes = lanesOf(data, (at) => x(Date.parse(at)))
  const height = headHeight + lanes.length * laneHeight + 6
  const kinds = [...new Set(data.map(({ kind, hold }) => (hold === null ? kind : 'held')))]
  return (
    <figure class="card timeline">
      <div ref={box}>
        {width === 0 ? null : (
          <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
            {hourMarks(start, end, tz, isNarrow).map(({ at, label, isMidnight }) => (
              <g key={at} class={isMidnight ? 'hour midnight' : 'hour'}>
                <line x1={x(at)} x2={x(at)} y1={headHeight - 6} y2={height - 6} />
                <text x={x(at)} y={headHeight - 12} text-anchor={anchorOf(x(at), left, width)}>
                  {label}
                </text>
              </g>
            ))}
            {lanes.map((lane, i) => (
              <LaneShown
                key={lane.agent ?? 'others'}
                of={lane}
                name={lane.agent === null ? 'other agents' : names.agent(lane.agent)}
                y={headHeight + i * laneHeight}
                left={left}
                right={width - edge}
                isNarrow={isNarrow}
                tz={tz}
                nowMs={start}
              />
            ))}
            <line class="now" x1={left} x2={left} y1={headHeight - 6} y2={height - 6} />
          </svg>
        )}
      </div>
      <figcaption class="small">
        {kinds.map((kind) => (
          <span key={kind} class="line">
            <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
              <Dot x={7} y={7} kind={kind} isHeld={kind === 'held'} />
            </svg>
            {kind === 'held' ? 'stands still' : kindWords[kind]}
          </span>
        ))}
        <span class="soft">The list below says the same.</span>
      </figcaption>
    </figure>
  )
}

/** A name at the very edge stays within the picture. */
function anchorOf(x: number, left: number, width: number): 'start' | 'middle' | 'end' {
  if (x < left + 20) return 'start'
  return x > width - 40 ? 'end' : 'middle'
}

/** As wide as there is room: the marks keep their size. */
function useWidth(): readonly [number, preact.RefObject<HTMLDivElement | null>] {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    setWidth(element.clientWidth)
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [width, box]
}

function LaneShown(o: {
  readonly of: Lane
  readonly name: string
  readonly y: number
  readonly left: number
  readonly right: number
  readonly isNarrow: boolean
  readonly tz: string
  readonly nowMs: number
}) {
  const line = o.y + laneHeight - 10
  const letters = o.isNarrow ? 40 : 20
  const name = o.name.length > letters ? `${o.name.slice(0, letters - 1)}…` : o.name
  return (
    <g class="lane">
      <line x1={o.left} x2={o.right} y1={line} y2={line} />
      <text
        x={o.isNarrow ? o.left + 8 : o.left - 12}
        y={o.isNarrow ? o.y + 12 : line + 4}
        text-anchor={o.isNarrow ? 'start' : 'end'}
      >
        {name}
      </text>
      {o.of.marks.map((mark) => (
        <MarkShown key={`${mark.x} ${mark.level}`} of={mark} line={line} tz={o.tz} nowMs={o.nowMs} />
      ))}
    </g>
  )
}

function MarkShown(o: { readonly of: Mark; readonly line: number; readonly tz: string; readonly nowMs: number }) {
  const { x, level, entry, more } = o.of
  const y = o.line - level * 11
  if (more > 0)
    return (
      <text class="more" x={x} y={y + 3} text-anchor="middle">
        +{more}
      </text>
    )
  const { day, time } = shownIn(entry.at, o.tz, o.nowMs)
  return (
    <g>
      <title>{`${day} ${time} ${entry.name}`}</title>
      <Dot x={x} y={y} kind={entry.kind} isHeld={entry.hold !== null} />
    </g>
  )
}

/** The shape says what it is, so that colour says nothing alone: a square waits once, a small dot looks, a hollow one stands still. */
function Dot(o: { readonly x: number; readonly y: number; readonly kind: Entry['kind']; readonly isHeld: boolean }) {
  const look = `dot ${o.kind} ${o.isHeld ? 'hollow' : ''}`
  switch (o.kind) {
    case 'monitor':
      return <rect class={look} x={o.x - 4} y={o.y - 4} width="8" height="8" />
    case 'flow':
      return <path class={look} d={`M${o.x - 4} ${o.y - 5}l8.500 5-8.500 5z`} />
    case 'trigger':
      return <path class={look} d={`M${o.x} ${o.y - 5.5}l5.500 5.500-5.500 5.500-5.500-5.500z`} />
    case 'look':
    case 'tick':
      return <circle class={look} cx={o.x} cy={o.y} r="3" />
    default:
      return <circle class={look} cx={o.x} cy={o.y} r="4.5" />
  }
}
