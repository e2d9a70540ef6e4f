/** Every bound with its motive. Numbers that behaviours.md names are the product's promise; the others protect the store. */
export const limits = {
  minuteMs: 60_000,
  /** S0-12, S0-13: an interval shorter than this burns money, a longer one is better said as a rule. */
  everyMsMin: 5 * 60_000,
  everyMsMax: 7 * 86_400_000,
  /** Decision 7: a flow calls no model, so it may run every minute. */
  flowGapMsMin: 60_000,
  /** S2-10: cron and RRULE; whoever wants to follow an event takes a trigger. */
  ruleGapMsMin: 30 * 60_000,
  /** Decision 11: up to this a fire counts as on time. */
  lateMs: 60_000,
  /** S0-60, and decision 23 for an agent target. */
  schedulesPerTarget: 20,
  /** S0-61. */
  schedulesMadeForOthers: 20,
  /** Decision 26: how far a chain of agents reaches. */
  hopsMax: 2,
  /** S0-24, decision 36: prompts of a conversation to other sessions since the person's last word in it. */
  promptsToOthersMax: 30,
  /** S0-30. */
  heldLookMs: 60_000,
  /** What is found due by looking, and has been for so long, was brought by no alarm: those come within a second or two. */
  strandedMs: 10_000,
  /** So many failures in a row are told, once. */
  failuresTold: 3,
  /** Decision 21. */
  backfillRunsMax: 100,
  /** An agent target with overlap `allow` whose worker is away must not pile up sessions without end. */
  openRunsMax: 20,
  nameCharsMax: 120,
  /** A turn's end writes one row and one cursor for each run that steered it, in one commit. */
  runsPerTurnMax: 10,
  /** A body is 64 KB at most; what is left holds the other fields. */
  promptCharsMax: 60_000,
  noteCharsMax: 2_000,
  /** S2-30, decision 31: of a check's output or a snapshot, in a message. */
  dataCharsMax: 8_000,
  /** S4-32, decision 36: per conversation and day. */
  monitorFiresPerDay: 20,
  /** Decision 28: armed, per session. */
  monitorsPerSession: 20,
  /** Decision 27: a wake this deep arms nothing. */
  monitorDepthMax: 2,
  /** A trigger that settles for longer is a schedule. */
  settleMsMax: 86_400_000,
  /** S4-42, S4-43. */
  monitorExpiryMsDefault: 86_400_000,
  monitorExpiryMsMax: 7 * 86_400_000,
  /** What a monitor keeps of its last look, as JSON: as much as a condition reads. */
  beforeCharsMax: 65_536,
  /** Tools that are run for monitors at once, in one process. */
  toolLooksAtOnce: 16,
  /** Of one such run: it ends well before the 20 s that an alarm has in the cloud. */
  toolLookMs: 15_000,
  /** S4-24. */
  toolWatchMsMin: 5 * 60_000,
  /** Checks and host steps, done by a worker or not at all. */
  checkSeconds: 60,
  scriptCharsMax: 500,
  /** A job that nobody has taken by then is no use any more: the worker is away, or sits in a turn. */
  jobWaitMs: 10 * 60_000,
  /** Of what a worker hands over; what reaches the agent is cut again. */
  jobOutputCharsMax: 100_000,
  maxRunsMax: 1_000_000,
  pauseAfterFailuresMax: 1_000,
  jitterMsMax: 86_400_000,
  /** A turn's answer travels in `end` (1 MB) but is stored in one item (350 KB). */
  answerCharsMax: 100_000,
  summaryCharsMax: 2_000,
  toolCallsPerTurnMax: 1_000,
  /** Of a tool call's arguments or result, as JSON in UTF-8; what is longer is cut and marked. */
  toolCallBytesMax: 4_000,
  /** All calls of a trace, as they are stored: a turn's end is one commit of 3.5 MB at most, and says more than that. */
  traceBytesMax: 2_000_000,
  /** Calls of a trace stand in items of 350 KB at most. */
  traceChunkBytesMax: 300_000,
  /** Decision 37. */
  traceMs: 30 * 86_400_000,
  /** JSON in JSON of a tool's arguments or result: it is walked by recursion. */
  jsonDepthMax: 100,
  /** Of the calls that a list of traces, flows or suggestions shows: a page ends where it would be more. */
  callsShownBytesMax: 1_000_000,
  promoteFromMax: 20,
  /** Steps of a flow in one item: a replay holds no more of them at once. */
  flowChunkBytesMax: 100_000,
  suggestionsMax: 100,
  /** Flows of one agent that wait for its next runs: the end of each turn compares with all of them. */
  shadowsPerAgent: 10,
  shadowRunsMax: 20,
  /** Of the traces that did the same, the ids that are kept: enough to promote from. */
  repeatedTracesMax: 10,
  /** A commit holds 100 operations, and each note costs two. */
  notesPerClaim: 10,
  leaseSecondsMin: 30,
  leaseSecondsMax: 7200,
  leaseSecondsDefault: 120,
  waitSecondsMax: 20,
  /** S2-18: "a short note". */
  sessionNoteCharsMax: 500,
  /** Decision 37. */
  retentionMs: 90 * 86_400_000,
  idempotencyMs: 86_400_000,
  /** A crashed call's idempotency key is taken over after this; ids derived from the key keep the second try from doubling anything. */
  idempotencyInFlightMs: 60_000,
  sharedWithMax: 100,
  /** A key's last use is written no more often: a call must not cost a write. */
  keyUseMs: 3_600_000,
  /** How long a rotated key may hold on, and how long it does unless said: time to bring the new one to where the old one is used. */
  keyGraceSecondsMax: 86_400,
  keyGraceSecondsDefault: 3_600,
  /** Decision 37. */
  auditMs: 365 * 86_400_000,
  secretBytesMax: 4_096,
  autoApproveMax: 200,
  /** All of one run's targets stand in one item, and are tried side by side. */
  deliverTargetsMax: 10,
  deliverCharsMax: 500,
  /** For one exchange; it must end well within the claim, and within the 20 s that an alarm has in the cloud. */
  deliverTimeoutMs: 10_000,
  /** A try that was not recorded by then is lost, and made again. */
  deliverClaimMs: 60_000,
  /** A receiver may ask for patience, but not for ever. */
  deliverRetryAfterMsMax: 86_400_000,
  /** Runs whose targets are tried at once, in one process. */
  deliverAtOnce: 32,
  /** Telegram's own. */
  telegramCharsMax: 4_096,
  /** Of an answer on its way to SNS, whose messages hold 256 KB. */
  topicAnswerCharsMax: 60_000,
  /** A note is read in the next turn of somebody else. */
  deliveredNoteCharsMax: 4_000,
  cardTitleCharsMax: 200,
  cardBodyCharsMax: 10_000,
  /** What a list of the feed reads at most, of cards that can come up again and of others each: older ones are found by id only. */
  feedCardsMax: 5_000,
  /** How long a list of the feed can be paged on through while cards move: the marks that they leave are kept so long. */
  feedMarksMs: 86_400_000,
  /** Titles in the summary of a group; the rest is counted. */
  groupSummaryCardsMax: 100,
  documentBytesMax: 300 * 1024,
  documentPathCharsMax: 500,
  /** DynamoDB's sort keys hold 1,024 bytes. */
  documentPathBytesMax: 1_000,
  /** Of a body, as JSON: an item holds 350,000 bytes, and the path stands in its key. */
  documentPartBytesMax: 340_000,
  toolNameCharsMax: 64,
  /** As a schedule's name in a list, but it tells a model when to call. */
  toolDescriptionCharsMax: 4_000,
  toolsPerAgent: 100,
  toolStepsMax: 20,
  /** All of a definition, as JSON. */
  toolBytesMax: 32 * 1024,
  /** Of one step, and of a whole call: it is answered while the caller waits, in the cloud within 29 s. */
  toolStepMs: 10_000,
  toolCallMs: 25_000,
  /** Of an HTTP, MCP or Lambda answer. */
  toolAnswerBytesMax: 256 * 1024,
  /** Of the answer to a call, as JSON in JSON: an Idempotency-Key keeps it in one item. */
  toolCallAnswerBytesMax: 330_000,
  /** A secret that is shorter is found in any text: it cannot be taken out of an answer that repeats it. */
  scrubbedCharsMin: 6,
  /** An agenda is drawn on a page: so many times of one thing, so many in all; a calendar may hold more. */
  agendaHoursMax: 168,
  agendaEachMax: 50,
  agendaEntriesMax: 500,
  /** What one agenda reads at most: schedules and monitors the newest first, the newest sessions of each agent, ticks the earliest. */
  agendaSchedulesMax: 1_000,
  agendaMonitorsMax: 1_000,
  agendaSessionsMax: 100,
  agendaTicksMax: 100,
  /** How far a calendar feed looks ahead. */
  calendarMs: 14 * 86_400_000,
  calendarEachMax: 200,
  calendarEventsMax: 2_000,
  /** Each is a standing secret of one person: nobody has more calendars than this. */
  calendarTokensMax: 20,
  /** A browser that was signed in stays so this long: a month of work without a key at hand, and not for ever on a machine that is lost. */
  signInMs: 30 * 86_400_000,
} as const
