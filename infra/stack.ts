import { CfnOutput, Stack, Tags } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { httpApi } from './api.ts'
import { everyMinute, schedulerOf } from './clock.ts'
import { alarmFunction, apiFunction, changeFunction, flowFunction, type Parts, sweepFunction } from './functions.ts'
import {
  alarmsQueue,
  deadChangesQueue,
  deliver,
  deliverChanges,
  deliverFlows,
  flowsQueue,
  sessionQueues,
} from './queues.ts'
import { noSettings, type Settings } from './settings.ts'
import type { Stage } from './stage.ts'
import { dataTables, physicalNames } from './storage.ts'

export interface RouseStackProps {
  readonly stage: Stage
  /** Folder with one folder of code per function: `api`, `alarm`, `sweep`, `change`, `flow`. */
  readonly assets: string
  readonly settings?: Settings
}

/**
 * Rouse in one account and region.
 *
 *     caller ─▶ HTTP API ─▶ api ──┬─▶ tables
 *                                 ├─▶ Scheduler ─▶ alarms queue ─▶ alarm ─▶ tables, session queues, Scheduler
 *                                 └─▶ session queues ─▶ worker
 *     every minute ─▶ sweep ─▶ what alarm does
 *     api, alarm, sweep ─▶ flows queue ─▶ flow ─▶ tables, flows queue, session queues
 *     documents table ─▶ its stream ─▶ change ─▶ tables, session queues
 */
export class RouseStack extends Stack {
  constructor(scope: Construct, id: string, { stage, assets, settings = noSettings }: RouseStackProps) {
    super(scope, id, {
      description: `Rouse (${stage.name}): wakes AI agents on schedules`,
      terminationProtection: stage.isKept,
    })
    Tags.of(this).add('rouse:stage', stage.name)

    const tables = dataTables(this, stage)
    const alarms = alarmsQueue(this, stage)
    const flows = flowsQueue(this, stage)
    const deadChanges = deadChangesQueue(this, stage)
    const sessions = sessionQueues(this, stage)
    const scheduler = schedulerOf(this, stage, alarms)
    const parts: Parts = { stage, assets, settings, tables, alarms, flows, deadChanges, sessions, scheduler }

    const api = apiFunction(this, parts)
    deliver(this, alarms, alarmFunction(this, parts))
    everyMinute(this, sweepFunction(this, parts))
    deliverFlows(this, flows, flowFunction(this, parts))
    deliverChanges(this, tables.documents, deadChanges, changeFunction(this, parts))
    const { url, apiId } = httpApi(this, api)

    new CfnOutput(this, 'ApiUrl', { value: url, description: 'The address of the API: ROUSE_URL' })
    new CfnOutput(this, 'ApiId', {
      value: apiId,
      description: 'For emulators, which serve the API under another address',
    })
    new CfnOutput(this, 'Tables', { value: physicalNames(this, tables), description: 'Physical names, as JSON' })
    new CfnOutput(this, 'FirstKey', {
      value: `npx rouse admin bootstrap --stack ${id}`,
      description: 'Makes the first person and their key, once',
    })
  }
}
