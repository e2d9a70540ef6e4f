import { keyAttributes } from '../../../shared/adapters/aws/schema.ts'
import { compareText } from '../../../shared/adapters/order.ts'
import type { Attributes } from './expressions.ts'

export interface Shelf {
  readonly items: Map<string, Map<string, Attributes>>
  readonly indexes: readonly Shown[]
}

/** One index: its partitions, each in the order of the sort value. */
export interface Shown {
  readonly name: string
  readonly pk: string
  readonly sk: string
  readonly partitions: Map<string, Place[]>
}

export interface Place {
  readonly at: string | number
  readonly key: readonly [string, string]
}

export const keyOf = (attributes: Attributes): readonly [string, string] => [
  attributes[keyAttributes.pk]!.S!,
  attributes[keyAttributes.sk]!.S!,
]
export const keyAttribute = ([pk, sk]: readonly [string, string]): Attributes => ({
  [keyAttributes.pk]: { S: pk },
  [keyAttributes.sk]: { S: sk },
})
export const sortValue = (at: string | number) => (typeof at === 'number' ? { N: String(at) } : { S: at })

export function placeIn(index: Shown, item: Attributes | null): { pk: string; at: string | number } | null {
  const pk = item?.[index.pk]?.S
  const sk = item?.[index.sk]
  return pk === undefined || sk === undefined ? null : { pk, at: sk.S ?? Number(sk.N) }
}

export function show(index: Shown, before: Attributes | null, after: Attributes | null): void {
  const [was, is] = [placeIn(index, before), placeIn(index, after)]
  if (was !== null) {
    if (is !== null && was.pk === is.pk && was.at === is.at) return
    const places = index.partitions.get(was.pk)!
    places.splice(spotOf(places, { at: was.at, key: keyOf(before!) }), 1)
  }
  if (is === null) return
  const place: Place = { at: is.at, key: keyOf(after!) }
  const places = index.partitions.get(is.pk) ?? []
  places.splice(spotOf(places, place), 0, place)
  index.partitions.set(is.pk, places)
}

const inOrder = (a: Place, b: Place): number =>
  (typeof a.at === 'number' ? a.at - Number(b.at) : compareText(a.at, String(b.at))) ||
  compareText(a.key[0], b.key[0]) ||
  compareText(a.key[1], b.key[1])

/** Where a place stands, or would. */
function spotOf(places: readonly Place[], place: Place): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (inOrder(places[middle]!, place) < 0) low = middle + 1
    else high = middle
  }
  return low
}

export const ownPlaces = (shelf: Shelf, pk: string): Place[] =>
  [...(shelf.items.get(pk)?.keys() ?? [])].sort(compareText).map((sk) => ({ at: sk, key: [pk, sk] }))

export function pageOf(
  places: readonly Place[],
  fits: (at: string | number) => boolean,
  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  input: any,
  index: Shown | null,
) {
  const descending = input.ScanIndexForward === false
  const limit: number = input.Limit ?? Number.POSITIVE_INFINITY
  const start = input.ExclusiveStartKey === undefined ? null : startOf(input.ExclusiveStartKey, index)
  const page: Place[] = []
  const step = descending ? -1 : 1
  for (let i = descending ? places.length - 1 : 0; i >= 0 && i < places.length; i += step) {
    const place = places[i]!
    if (start !== null && inOrder(place, start) * step <= 0) continue
    if (!fits(place.at)) continue
    if (page.length === limit) return { page, more: true }
    page.push(place)
  }
  // DynamoDB names a last key whenever it stopped because of the limit, also where nothing follows.
  return { page, more: page.length === limit }
}

const startOf = (key: Attributes, index: Shown | null): Place => {
  const { S, N } = key[index?.sk ?? keyAttributes.sk]!
  return { at: S ?? Number(N), key: keyOf(key) }
}
