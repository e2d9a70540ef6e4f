/**
 * Who may do what with whose, in one place: what the caller is to an agent (a column), what is done (a row), and what the API says
 * (a cell). Everything that asks for access reads it here; the settings and counts that come after it (agents' sessions off, hops,
 * thirty prompts) are no part of it, since they hold back those who may.
 */

/** What the caller is to the agent that a call concerns; of several, the first. */
export const standings = [
  /** A person: its owner. */
  'owner',
  /** A person it is shared with. */
  'friend',
  /** Anybody, where it is a team agent. */
  'team',
  /** Who asked for the schedule and cannot talk to the agent (any more). */
  'maker',
  /** An admin who is none of these (decision 34). */
  'admin',
  'stranger',
  /** The agent's own key, in a session of its own. */
  'itself',
  /** The agent's own key without a session. */
  'alone',
  /** Another agent that made the schedule. */
  'maker_agent',
  /** Another agent of the same owner, in a session of its own. */
  'sibling',
  /** An agent of another person who can talk to this one, in a session of its own. */
  'ally',
  /** Any other agent; without a session, every other one. */
  'foreign',
] as const
export type Standing = (typeof standings)[number]

/**
 * `hidden`: 404, as if it did not exist. The others are the codes that the API answers. Where every agent's key gets the same one, nothing
 * is looked up before, so that the answer tells nothing.
 */
export type Verdict = 'yes' | 'hidden' | 'person_only' | 'owner_only' | 'admin_only' | 'schedule_agent_not_allowed'

const row =
  (ofPeople: readonly Verdict[]) =>
  (ofAgents: readonly Verdict[]): Readonly<Record<Standing, Verdict>> => {
    const cells = [...ofPeople, ...ofAgents]
    return Object.fromEntries(standings.map((standing, i) => [standing, cells[i]!])) as Record<Standing, Verdict>
  }

const yes = 'yes'
const hide = 'hidden'
const owner = 'owner_only'
const human = 'person_only'
const away = 'schedule_agent_not_allowed'

// biome-ignore format: a table
export const matrix = {
  //                      owner friend team   maker  admin  stranger  itself alone  maker_agent sibling ally  foreign
  see_agent:       row([  yes,  yes,   yes,   hide,  hide,  hide ])([ yes,   yes,   hide,       hide,   hide,  hide ]),
  /** Settings, sharing, autoApprove, budget. */
  set_agent:       row([  yes,  owner, owner, hide,  hide,  hide ])([ human, human, hide,       hide,   hide,  hide ]),
  /** Its tools: they run in the name of whoever calls them, with the owner's secrets when the agent does. */
  set_tools:       row([  yes,  owner, owner, hide,  hide,  hide ])([ yes,   yes,   hide,       hide,   hide,  hide ]),
  delete_agent:    row([  yes,  owner, owner, hide,  hide,  hide ])([ human, human, hide,       hide,   hide,  hide ]),
  /** Make and list keys of the agent: its keys reach all that the owner can talk to. */
  make_keys:       row([  yes,  owner, owner, hide,  hide,  hide ])([ human, human, hide,       hide,   hide,  hide ]),
  /** Rotate and revoke one key, of an agent or of a person: `owner` is who answers for it. */
  change_key:      row([  yes,  hide,  hide,  hide,  hide,  hide ])([ human, human, human,      human,  human, human ]),
  /** Open, see, list, change, archive, delete; read messages; claim, heartbeat, end; hear the queue; see and call tools. */
  use_sessions:    row([  yes,  yes,   yes,   hide,  hide,  hide ])([ yes,   yes,   hide,       hide,   hide,  hide ]),
  /** Mode, permission, stopping a turn. */
  rule_session:    row([  yes,  yes,   yes,   hide,  hide,  hide ])([ human, human, human,      human,  human, human ]),
  /** Promote and remove flows, run them, put them on a schedule (decision 35). */
  rule_flows:      row([  yes,  yes,   yes,   hide,  hide,  hide ])([ human, human, human,      human,  human, human ]),
  send:            row([  yes,  yes,   yes,   hide,  hide,  hide ])([ yes,   yes,   hide,       yes,    yes,   hide ]),
  /** S2-55: create a schedule for the agent or its session, or edit one toward it. */
  aim_schedule:    row([  yes,  yes,   yes,   away,  away,  away ])([ yes,   yes,   away,       yes,    yes,   away ]),
  /** S2-25: a check runs with the agent's files and commands. */
  set_check:       row([  yes,  owner, owner, owner, hide,  hide ])([ yes,   yes,   owner,      hide,   hide,  hide ]),
  /** S2-52, S2-53: see, list, edit, pause, resume, delete, run, backfill; its runs and why. */
  use_schedule:    row([  yes,  yes,   yes,   yes,   hide,  hide ])([ yes,   yes,   yes,        hide,   hide,  hide ]),
} as const satisfies Record<string, Readonly<Record<Standing, Verdict>>>
export type Deed = keyof typeof matrix

/** What concerns no agent: who calls is all that counts. */
export const ranks = ['admin', 'person', 'agent'] as const
export type Rank = (typeof ranks)[number]

// biome-ignore format: a table
export const commonMatrix = {
  add_people:      { admin: yes, person: 'admin_only', agent: human },
  /** Make agents, change settings, keep secrets, list the keys and the audit trail of one's own, act on cards, move the clock. */
  act_as_person:   { admin: yes, person: yes,          agent: human },
} as const satisfies Record<string, Readonly<Record<Rank, Verdict>>>
export type CommonDeed = keyof typeof commonMatrix
