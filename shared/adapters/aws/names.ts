/**
 * Text as part of a service's name, where letters, digits, `_` and `-` are all it takes. Ids of ours are such text and stay
 * as they are; in any other, what is refused becomes its code point.
 */
export const plainName = (text: string): string =>
  text.replace(/[^\w-]/gu, (c) => `-x${c.codePointAt(0)!.toString(16)}-`)
