import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AwsRefusal } from '../faults/aws/expressions.ts'
import type { MemoryAws, Service } from '../faults/aws/memory-aws.ts'
import type { Need, Recorded } from './needs.ts'
import type { RoleName } from './stack.ts'
import { callOf, needsOfRequest } from './wire-call.ts'

/** With which STS answers: whoever signs with them is the listener. */
export const lent = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'lent', sessionToken: 'lent' }

/** AWS in memory behind an address, which writes down who asks it for what. Whoever does not sign is heard, and answered with 200. */
export interface AwsDoor {
  readonly address: string
  /** In whose place the process calls now. */
  by: RoleName | null
  /** What is turned away as if it could not be understood; null: nothing. */
  refuses: ((operation: string, input: object) => boolean) | null
  /** Distinct. @throws Error when something was asked of which it is not known what it needs */
  recorded(): readonly Recorded[]
  close(): void
}

export async function openDoor(aws: () => MemoryAws): Promise<AwsDoor> {
  const seen = new Map<string, Recorded>()
  const unknown: Error[] = []
  const write = (by: string, need: Need) => seen.set(JSON.stringify([by, need]), { ...need, by })
  const server = createServer((asked, answer) => {
    take(asked, answer).catch((error: Error) => {
      unknown.push(error)
      answer.writeHead(500).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function take(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of asked) chunks.push(chunk)
    const { method = 'GET', url: path = '/', headers } = asked
    const { authorization } = headers
    // The clock of the tests is another one than the server's, and the SDK would set its own by what it is told.
    answer.sendDate = false
    if (authorization === undefined || !authorization.startsWith('AWS4')) return void answer.end('{}')
    const request = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') }
    const by = authorization.includes(lent.accessKeyId) ? 'Listener' : door.by
    if (by === null) throw new Error(`nobody's turn, and yet somebody asked: ${method} ${path} ${request.body}`)
    for (const need of needsOfRequest(request)) write(by, need)
    const { service, operation, input } = callOf(request)
    try {
      if (door.refuses?.(operation, input)) throw new AwsRefusal('ValidationException', 'the test says so')
      const said = answered(aws(), service, operation, input)
      answer.setHeader('content-type', typeof said === 'string' ? 'text/xml' : 'application/x-amz-json-1.0')
      answer.end(typeof said === 'string' ? said : JSON.stringify(said))
    } catch (error) {
      if (!(error instanceof AwsRefusal)) throw error
      answer.setHeader('x-amzn-errortype', error.name)
      answer.writeHead(400).end(JSON.stringify({ __type: error.name, message: error.message, ...error.extra }))
    }
  }

  const door: AwsDoor = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    by: null,
    refuses: null,
    recorded() {
      if (unknown.length > 0) throw unknown[0]
      return [...seen.values()]
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return door
}

// biome-ignore lint/suspicious/noExplicitAny: what AWS is sent has as many shapes as it has calls
export function answered(aws: MemoryAws, service: string, operation: string, input: any): object | string {
  switch (`${service}:${operation}`) {
    case 'sts:AssumeRole':
      return xml('AssumeRole', `<Credentials>${lentAsXml()}</Credentials>`)
    case 'sns:Publish':
      return xml('Publish', '<MessageId>1</MessageId>')
    case 'lambda:Invoke':
      return {}
    case 'sqs:SendMessage':
      // The SDK compares.
      return { ...aws.call('sqs', operation, input), MD5OfMessageBody: md5(input.MessageBody) }
    case 'sqs:SendMessageBatch': {
      const { Successful } = aws.call('sqs', operation, input) as { readonly Successful: readonly { Id: string }[] }
      const bodies = new Map<string, string>(
        input.Entries.map((entry: { Id: string; MessageBody: string }) => [entry.Id, entry.MessageBody]),
      )
      return {
        Successful: Successful.map((one) => ({ ...one, MD5OfMessageBody: md5(bodies.get(one.Id)!) })),
        Failed: [],
      }
    }
    case 'sqs:ReceiveMessage': {
      const { Messages = [] } = aws.call('sqs', operation, input) as {
        readonly Messages?: readonly { readonly Body: string }[]
      }
      return { Messages: Messages.map((one) => ({ ...one, MD5OfBody: md5(one.Body) })) }
    }
    default:
      return aws.call(service as Service, operation, input)
  }
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

const xml = (operation: string, result: string): string =>
  `<${operation}Response><${operation}Result>${result}</${operation}Result></${operation}Response>`

const lentAsXml = (): string =>
  `<AccessKeyId>${lent.accessKeyId}</AccessKeyId><SecretAccessKey>${lent.secretAccessKey}</SecretAccessKey>` +
  `<SessionToken>${lent.sessionToken}</SessionToken><Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>`
