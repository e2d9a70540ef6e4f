import { CfnOutput, Stack, Tags } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { httpApi } from './api.ts'
import { everyMinute, schedulerOf } from './clock.ts'
import { alarmFunction, apiFunction, changeFunction, flowFunction, sweepFunction } from './functions.ts'
import { acknowledgeFindings } from './nag.ts'
import type { Parts } from './permissions.ts'
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
import { sight } from './sight.ts'
import type { Stage } from './stage.ts'
import { type DataTables, dataTables, physicalNames } from './storage.ts'

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
  readonly tables: DataTables

  constructor(scope: Construct, id: string, { stage, assets, settings = noSettings }: RouseStackProps) {
    super(scope, id, {
      description: `Rouse (${stage.name}): wakes AI agents on schedules`,
      terminationProtection: stage.isKept,
    })
    Tags.of(this).add('rouse:stage', stage.name)

    const tables = dataTables(this, stage)
    this.tables = tables
    const alarms = alarmsQueue(this, stage)
    const flows = flowsQueue(this, stage)
    const deadChanges = deadChangesQueue(this, stage)
    const sessions = sessionQueues(this, stage)
    const scheduler = schedulerOf(this, stage, alarms)
    const parts: Parts = { stage, assets, settings, tables, alarms, flows, deadChanges, sessions, scheduler }

    const api = apiFunction(this, parts)
    const alarm = alarmFunction(this, parts)
    const sweep = sweepFunction(this, parts)
    const flow = flowFunction(this, parts)
    const change = changeFunction(this, parts)
    deliver(this, alarms, alarm)
    everyMinute(this, sweep)
    deliverFlows(this, flows, flow)
    deliverChanges(this, tables.documents, deadChanges, change)
    const { url, apiId } = httpApi(this, stage, api, settings.throttle)
    const functions = { api, alarm, sweep, change, flow }
    const schedulerGroup = scheduler.group
    sight(this, { stage, apiId, functions, alarms, flows, deadChanges, schedulerGroup, tables }, settings.watching)
    acknowledgeFindings(this, stage, { tables, deadChanges })

    new CfnOutput(this, 'ApiUrl', { value: url, description: 'The address of the API: ROUSE_URL' })
    new CfnOutput(this, 'ConsoleUrl', { value: `${url}/console`, description: 'The console, in a browser' })
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
