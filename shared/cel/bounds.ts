/** What an expression may cost. Expressions and data are other people's, and run beside everybody's schedules. */
export const bounds = {
  /** Characters of an expression: a screenful; the parser reads nothing longer. */
  textCharsMax: 4_000,
  /** Nodes of the syntax tree. */
  nodesMax: 200,
  /** Nesting of calls, brackets and chains of names: the parser and the evaluation recurse this deep. */
  nestingMax: 60,
  /** `a.all(x, b.all(y, …))` is 2. A third level has no use in a condition and multiplies the work once more. */
  loopsMax: 2,
  /**
   * Steps of one evaluation, some milliseconds: 1 for each node evaluated and each round of a loop or element handled, 1 for each
   * `charsPerStep` characters.
   */
  stepsMax: 100_000,
  charsPerStep: 16,
  /** An error that is absorbed costs what throwing one costs. */
  absorbedSteps: 20,
  /** Reading a clock in a named zone builds a formatter. */
  zoneSteps: 400,
  /** Characters of one variable's value, as JSON. */
  dataCharsMax: 65_536,
  /** Characters of a result, as JSON. A few references to one long text are cheap to make and dear to write out. */
  resultCharsMax: 65_536,
  /** Levels of objects and arrays, in data and in results. */
  depthMax: 64,
  /** Characters of a regular expression, and instructions of what RE2 makes of it: `(\w{500}){2}` is short. */
  patternCharsMax: 250,
  patternSizeMax: 1_000,
  /** Compiling one, at its first use in an evaluation: up to 14 ms for 250 characters. */
  patternSteps: 500,
  patternCharSteps: 40,
  /** Scripts with upper and lower case end here; the few behind are written without a range. */
  foldedCodeMax: 0xfff,
  /** What one may keep of its states. */
  patternBytesMax: 262_144,
  /** RE2 visits at most each instruction for each character, up to 30 ns a visit; this many visits are one step. */
  visitsPerStep: 32,
  /** Programs and patterns remembered. */
  programsKept: 500,
  patternsKept: 50,
  /** Expressions in one template, which share one budget of steps, and their characters. */
  templateExpressionsMax: 100,
  templateExpressionCharsMax: 16_000,
  /** Characters of a template and of what it becomes, as JSON. */
  templateCharsMax: 262_144,
} as const
