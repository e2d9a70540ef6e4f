import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Held {
  readonly body: string
  hidden: boolean
}

export interface SqsCall {
  /** `ReceiveMessage`, `DeleteMessageBatch` */
  readonly action: string
  readonly body: Record<string, unknown>
  /** The access key that signed it. */
  readonly by: string
}

const region = 'eu-west-1'

/**
 * One SQS queue behind the JSON protocol on 127.0.0.1, and the server's side of it that grants credentials. A call must be signed by
 * granted credentials that still hold; a message that was received stays hidden until it is deleted or `unhide`.
 */
export class FakeSqs {
  readonly calls: SqsCall[] = []
  /** Secrets by access key; what is taken out has expired. */
  private readonly secrets = new Map<string, string>()
  private readonly held = new Map<string, Held>()
  private readonly listeners = new Set<() => void>()
  private granted = 0
  private count = 0
  private server: Server | null = null
  private port = 0
  /** False answers as AWS does after the queue was deleted. */
  isThere = true
  mayDelete = true

  /** What `POST /v1/sessions/{id}/queue` answers. */
  grant(o: { lifeMs?: number; holds?: boolean } = {}) {
    this.granted += 1
    const accessKeyId = `AKIAFAKE${this.granted}`
    const secretAccessKey = `secret-${this.granted}`
    if (o.holds !== false) this.secrets.set(accessKeyId, secretAccessKey)
    return {
      url: `https://sqs.${region}.amazonaws.com/000000000000/rouse-session`,
      region,
      endpoint: `http://127.0.0.1:${this.port}`,
      credentials: { accessKeyId, secretAccessKey, sessionToken: `token-${this.granted}` },
      expiresAt: new Date(Date.now() + (o.lifeMs ?? 3_600_000)).toISOString(),
    }
  }

  /** Everything granted so far has expired. */
  expire(): void {
    this.secrets.clear()
  }

  ring(envelope: unknown): void {
    this.count += 1
    const body = typeof envelope === 'string' ? envelope : JSON.stringify(envelope)
    this.held.set(`handle-${this.count}`, { body, hidden: false })
    for (const wake of this.listeners) wake()
  }

  /** What was received and not deleted comes again, as after its visibility timeout. */
  unhide(): void {
    for (const one of this.held.values()) one.hidden = false
    for (const wake of this.listeners) wake()
  }

  vanish(): void {
    this.isThere = false
    for (const wake of this.listeners) wake()
  }

  get left(): number {
    return this.held.size
  }

  to(action: string): SqsCall[] {
    return this.calls.filter((call) => call.action === action)
  }

  /** True while a long poll is held open. */
  get isPolled(): boolean {
    return this.listeners.size > 0
  }

  /** Listens, on the port of before if it did before. */
  async up(): Promise<this> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString('utf8')
      const gone = new AbortController()
      response.on('close', () => gone.abort())
      const { status, body } = await this.answer(request, text, gone.signal)
      if (response.destroyed) return
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
      response.end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve))
    this.port = (server.address() as AddressInfo).port
    this.server = server
    return this
  }

  /** Cuts every connection, open polls included. */
  async down(): Promise<void> {
    const { server } = this
    this.server = null
    if (server === null) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  private async answer(
    request: IncomingMessage,
    text: string,
    gone: AbortSignal,
  ): Promise<{ status: number; body: unknown }> {
    const action = String(request.headers['x-amz-target']).replace('AmazonSQS.', '')
    const body = JSON.parse(text) as Record<string, unknown>
    const by = signerOf(request)
    this.calls.push({ action, body, by })
    const secret = this.secrets.get(by)
    if (secret === undefined)
      return refusal(403, 'ExpiredToken', `the token ${request.headers['x-amz-security-token']} is expired`)
    if (!isSigned(request, text, secret)) return refusal(403, 'SignatureDoesNotMatch', 'the signature does not match')
    if (!this.isThere) return noQueue
    if (action === 'DeleteMessageBatch' && !this.mayDelete) return refusal(403, 'AccessDenied', 'no')
    if (action === 'DeleteMessageBatch') {
      const entries = body.Entries as { Id: string; ReceiptHandle: string }[]
      for (const { ReceiptHandle } of entries) this.held.delete(ReceiptHandle)
      return { status: 200, body: { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] } }
    }
    if (action !== 'ReceiveMessage') return refusal(400, 'InvalidAction', action)
    const until = performance.now() + Number(body.WaitTimeSeconds ?? 0) * 1000
    while (this.isThere && !gone.aborted && this.visible().length === 0 && performance.now() < until)
      await this.change(until - performance.now(), gone)
    if (!this.isThere) return noQueue
    const messages = gone.aborted ? [] : this.visible().slice(0, Number(body.MaxNumberOfMessages ?? 1))
    for (const [, one] of messages) one.hidden = true
    const Messages = messages.map(([handle, one]) => ({
      MessageId: handle,
      ReceiptHandle: handle,
      Body: one.body,
      MD5OfBody: createHash('md5').update(one.body).digest('hex'),
    }))
    return { status: 200, body: Messages.length === 0 ? {} : { Messages } }
  }

  private visible(): [string, Held][] {
    return [...this.held].filter(([, one]) => !one.hidden)
  }

  private change(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.listeners.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.listeners.add(done)
      gone.addEventListener('abort', done)
    })
  }
}

const refusal = (status: number, type: string, message: string) => ({ status, body: { __type: type, message } })

const noQueue = refusal(400, 'com.amazonaws.sqs#QueueDoesNotExist', 'the queue does not exist')

const authorization = /Credential=([^/]+)\/(\d+)\/([^/]+)\/sqs\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/

const signerOf = (request: IncomingMessage): string =>
  authorization.exec(request.headers.authorization ?? '')?.[1] ?? ''

/** AWS signature version 4 of a POST to /, computed anew: the secret itself never travels. */
function isSigned(request: IncomingMessage, text: string, secret: string): boolean {
  const [, , day = '', where = '', names = '', signature] =
    authorization.exec(request.headers.authorization ?? '') ?? []
  const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')
  const hmac = (key: string | Buffer, value: string) => createHmac('sha256', key).update(value).digest()
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = ['POST', '/', '', headers.join(''), names, sha256(text)].join('\n')
  const scope = `${day}/${where}/sqs/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [day, where, 'sqs', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return where === region && names.includes('x-amz-security-token') && hmac(key, toSign).toString('hex') === signature
}
