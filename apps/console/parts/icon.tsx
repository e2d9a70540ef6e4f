/** Drawn on 20 × 20, in the colour of the text beside them. They say nothing of their own: a name always stands with them. */
const drawn = {
  conversations: 'M3 5.5A2.5 2.5 0 0 1 5.5 3h9A2.5 2.5 0 0 1 17 5.5v5a2.5 2.5 0 0 1-2.5 2.5H9l-4 4v-4A2 2 0 0 1 3 11z',
  schedules: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M10 6v4l2.5 2',
  monitors: 'M2.5 10S5.2 5 10 5s7.5 5 7.5 5-2.7 5-7.5 5-7.5-5-7.5-5M10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4',
  flows:
    'M6.5 5h7A2.5 2.5 0 0 1 16 7.5v0a2.5 2.5 0 0 1-2.5 2.5h-7A2.5 2.5 0 0 0 4 12.500A2.5 2.5 0 0 0 6.500 15H14M12 13l2 2-2 2M4 5h.01',
  feed: 'M4 4h12v5H4zM4 12h12M4 15.500h8',
  agenda: 'M3 10h14M5 7v6M9.500 8.500v3M13 7v6M16.500 8.500v3',
  settings: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4M7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4',
  alarm:
    'M10 16.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11M10 8.500V11l1.700 1.300M3.500 5.500 6 3.500M16.500 5.500 14 3.500',
  minus: 'M5 10h10',
  plus: 'M10 4v12M4 10h12',
  runs: 'M4 5.500h12M4 10h12M4 14.500h7',
  run: 'M6.500 4.500v11l9-5.500z',
  edit: 'M4 16l.7-3.300L13.500 4a1.600 1.600 0 0 1 2.500 2.500l-8.700 8.800z',
  pause: 'M7 5v10M13 5v10',
  resume: 'M4 5v10M8 5l8 5-8 5z',
  remove: 'M4 6h12M8 6V4h4v2M6 6l.6 10h6.800L14 6',
  close: 'M5 5l10 10M15 5 5 15',
  back: 'M12 4l-6 6 6 6',
  stop: 'M6 6h8v8H6z',
  send: 'M4 10 16 4l-4 12-2.500-5z',
  out: 'M8 4H4v12h4M12 6l4 4-4 4M16 10H8',
  agent: 'M5 8h10v7H5zM10 5v3M7.500 11.500h.01M12.500 11.500h.01M10 4.500h.01M3 11v2M17 11v2',
  check: 'M4.5 10.5l3.5 3.500 7.500-8',
  copy: 'M7 7h9v9H7zM4 13V4h9',
} as const

export type IconName = keyof typeof drawn

export function Icon(o: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={drawn[o.name]} />
    </svg>
  )
}
