/**
 * What AWS allows by default, per account and region, as published and read in November 2026. Each value stands in docs/scale.md with its
 * source; the simulations keep to them, and a test holds the two together.
 */
export const quotas = {
  dynamo: {
    /** A second, of one partition, whatever the table may do. */
    partitionReadUnits: 3_000,
    partitionWriteUnits: 1_000,
    /** A second, of a table on demand that was just made. It doubles with what it has had. */
    newTableReadUnits: 12_000,
    newTableWriteUnits: 4_000,
    /** A second, of one table. */
    tableReadUnits: 40_000,
    tableWriteUnits: 40_000,
  },
  scheduler: {
    schedules: 10_000_000,
    /** A second. Primary regions; elsewhere `createsElsewhere`. */
    creates: 5_000,
    createsElsewhere: 250,
    /** Entries that are sent a second. */
    invocations: 1_000,
    /** An entry is sent within this long of its time. */
    spreadMs: 60_000,
  },
  sqs: {
    delaySecondsMax: 900,
    /** Received and not deleted yet, of one queue. */
    inFlight: 120_000,
  },
  lambda: {
    concurrency: 1_000,
    /** Batches of one queue that are handled at once: to begin with, and so many more a minute. */
    batchesAtFirst: 5,
    batchesPerMinute: 300,
    batchesMost: 1_000,
  },
} as const

/** How long things take: no promise of AWS, but what is usual within a region. Cautious where there is a choice. */
export const usual = {
  /** Of one request, from when it is sent. */
  requestMs: {
    GetItem: [3, 10],
    BatchGetItem: [5, 20],
    Query: [4, 15],
    PutItem: [5, 15],
    UpdateItem: [5, 15],
    DeleteItem: [5, 15],
    TransactWriteItems: [12, 40],
    SendMessage: [8, 30],
    SendMessageBatch: [10, 40],
    CreateQueue: [30, 120],
    CreateSchedule: [20, 80],
  },
  /** What a request costs the function's CPU, which is a third of a core at 512 MB: nothing else of it runs meanwhile. */
  requestCpuMs: 2,
  /** From when a message may be seen to when its batch is handed to a function. */
  pollMs: [5, 60],
  coldStartMs: [300, 900],
  invokeMs: [3, 15],
} as const

/** As infra/queues.ts sets them; a test reads them there. */
export const ours = { batch: 10, batchesAtOnce: 20, shards: 8, alarmSeconds: 20 } as const
