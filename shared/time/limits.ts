/** How far ahead a next occurrence is sought: 29 February may be 8 years off (2096 to 2104), on a given weekday 40. One day of slack. */
export const horizonDays = 14_611

/** The last instant that is reckoned with: the end of the year 9999, the last that ISO 8601 writes with four digits. */
export const latestInstant = 253_402_300_799_999

/** The first: wall times begin in 1970, which no zone sees more than a day earlier. A wild `after` costs no walk from the year 1. */
export const earliestInstant = -172_800_000

/** Decision 3. COUNT is turned into an instant once, when a schedule is made. */
export const countMax = 100_000

/** Decision 7: the frequency of an RRULE is judged over its first occurrences. */
export const gapOccurrencesMax = 500

/**
 * Steps one search through a sub-daily rule may take. Rules that hit at all hit within some 75,000 (14,611 days, five steps
 * each); what is still without a hit after twice that was written to keep us busy.
 */
export const searchStepsMax = 150_000

/** Steps that COUNT or the smallest gap may cost in all: 10 to 20 ms. */
export const walkStepsMax = 600_000

/** The longest cron that says something: 60 minutes, 24 hours, 31 days, 12 months and 7 weekdays, listed, are 360 characters. */
export const cronCharsMax = 500

/** 366 days of the year, listed with their negatives, are about 3,500 characters; the other lists 700. */
export const rruleCharsMax = 6_000

/** Compiled rules kept, one about a kilobyte; what has not been used for long goes first. */
export const compiledMax = 2_000

/** Rules whose words are kept; making them costs ten times a look-up. */
export const wordsMax = 2_000

/** Buckets of 64 days kept for a zone: 90 years. Past that they are thrown away and found again. */
export const zoneBucketsMax = 512
