import { setTimeout } from 'node:timers/promises'
import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, inject } from 'vitest'
import { readAlarms } from '../../shared/adapters/aws/alarms.ts'
import { envelopeIn } from '../../shared/adapters/aws/bell.ts'
import type { Envelope } from '../../shared/ports/world.ts'
import { conformance, type Pieces } from '../conformance/suite.ts'
import { openEmulatorWorld } from './emulator-world.ts'

conformance('AWS', pieces)

async function pieces(): Promise<Pieces> {
  const { world, config, sqs, close } = await openEmulatorWorld(inject('aws'))
  return {
    ...world,
    close,
    catchUp() {},
    hear(queue) {
      const heard: Envelope[] = []
      const name = config.queuePrefix + queue.replace('#', '-x23-')
      return {
        async next() {
          while (heard.length === 0) {
            for (const { Body } of await received(sqs, await urlOf(sqs, name))) heard.push(envelopeIn(Body!))
          }
          return heard.shift()!
        },
      }
    },
    async nextAlarm() {
      for (;;) {
        const bodies = (await received(sqs, config.alarmsQueueUrl)).map(({ Body }) => Body!)
        const now = world.clock.now()
        const { due, bad } = await readAlarms(world.alarms, bodies, now)
        expect(bad).toEqual([])
        if (due.length > 0) return now
      }
    },
  }
}

/** Takes what has come, waiting a second for it. */
async function received(sqs: SQSClient, url: string): Promise<readonly Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 1, MaxNumberOfMessages: 10 }),
  )
  for (const { ReceiptHandle } of Messages) await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }))
  return Messages
}

/** The queue is made when it is first rung. */
async function urlOf(sqs: SQSClient, name: string): Promise<string> {
  for (;;) {
    const answer = await sqs.send(new GetQueueUrlCommand({ QueueName: name })).catch((error: Error) => {
      if (!error.name.includes('QueueDoesNotExist')) throw error
      return null
    })
    if (answer !== null) return answer.QueueUrl!
    await setTimeout(50)
  }
}
