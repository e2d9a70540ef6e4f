import { actOnCard, getCard, postCard } from '../engine/feed.ts'
import { groupSummary, listCards } from '../engine/feed-list.ts'
import { cursorIn, list } from './cursors.ts'
import { created, ok, operation } from './operation.ts'
import * as present from './present-feed.ts'
import { nothing } from './schemas.ts'
import * as schemas from './schemas-feed.ts'

const tag = 'Feed'

export const feedOperations = [
  operation({
    name: 'listCards',
    method: 'get',
    path: '/v1/feed',
    summary: 'The cards of the person, newest group first; `labels` counts them per label',
    tag,
    query: schemas.cardQuery,
    run: async (call, { query }) => {
      const { group = null, label = null, status = null, limit } = query
      const after = present.placeIn(cursorIn(query.cursor, present.feedShape))
      const { items, next, labels } = await listCards(call, { group, label, status }, { limit, after })
      return ok({ ...list(items.map(present.card), present.placeOut(next)), labels })
    },
  }),
  operation({
    name: 'postCard',
    method: 'post',
    path: '/v1/feed',
    summary: "Put a card into the feed: a person's own, or that of the agent's owner",
    tag,
    body: schemas.cardCreate,
    statuses: [201],
    creates: true,
    run: async (call, { body }) =>
      created(
        present.card(
          await postCard(call, {
            title: body.title,
            body: body.body || null,
            group: body.group ?? null,
            label: body.label ?? null,
            loop: body.loop ?? null,
            autoSendOn: body.autoSendOn ?? null,
          }),
        ),
      ),
  }),
  operation({
    name: 'getCard',
    method: 'get',
    path: '/v1/feed/{id}',
    summary: 'Read a card',
    tag,
    run: async (call, { params }) => ok(present.card(await getCard(call, params.id!))),
  }),
  ...(
    [
      ['allow', 'allowCard', 'Allow what an agent asks for'],
      ['deny', 'denyCard', 'Deny what an agent asks for'],
      ['run-now', 'runCardNow', 'Run the schedule that did not run once, at once; `run` is the new run'],
      ['stop', 'stopCard', 'Stop the countdown: nothing is sent by itself'],
      ['dismiss', 'dismissCard', 'Put the card away'],
    ] as const
  ).map(([action, name, summary]) =>
    operation({
      name,
      method: 'post',
      path: `/v1/feed/{id}/actions/${action}`,
      summary,
      tag,
      body: nothing,
      bodyOptional: true,
      creates: true,
      run: async (call, { params }) => ok(present.acted(await actOnCard(call, params.id!, action))),
    }),
  ),
  operation({
    name: 'summariseGroup',
    method: 'get',
    path: '/v1/feed/groups/{group+}/summary',
    summary: 'The open cards of a group in short: counts per label, titles, how often each was seen',
    tag,
    run: async (call, { params }) => ok(present.summary(await groupSummary(call, params.group!))),
  }),
]
