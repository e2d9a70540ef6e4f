import { isFields, listOf } from './trace.ts'

/** OTLP's `AnyValue` as plain JSON. 64-bit numbers come as texts. */
export function plainOf(any: unknown): unknown {
  if (!isFields(any)) return null
  if ('stringValue' in any) return any.stringValue
  if ('boolValue' in any) return any.boolValue
  if ('intValue' in any) return Number(any.intValue)
  if ('doubleValue' in any) return any.doubleValue
  if ('bytesValue' in any) return any.bytesValue
  if (isFields(any.arrayValue)) return listOf(any.arrayValue.values).map(plainOf)
  if (isFields(any.kvlistValue))
    return Object.fromEntries(
      listOf(any.kvlistValue.values)
        .filter(isFields)
        .map(({ key, value }) => [String(key), plainOf(value)]),
    )
  return null
}
