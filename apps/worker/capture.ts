import { StringDecoder } from 'node:string_decoder'

/** What `end` takes is 1 MB as JSON; the rest of the body and the escapes of an unlucky text need their room. */
const answerBytesMax = 900 * 1024
const tailBytes = 16 * 1024
const summaryCharsMax = 2000

/** Keeps the beginning of a child's output, as much as an answer can hold, and counts the rest. */
export class Beginning {
  private readonly chunks: Buffer[] = []
  private kept = 0
  private total = 0

  add(chunk: Buffer): void {
    this.total += chunk.length
    const room = answerBytesMax - this.kept
    if (room <= 0) return
    this.chunks.push(chunk.subarray(0, room))
    this.kept += Math.min(room, chunk.length)
  }

  /** The output as an answer: its end trimmed, and a last line that says so when it was clipped. */
  answer(): string {
    const whole = textOf(Buffer.concat(this.chunks)).trimEnd()
    const text = fitting(whole, answerBytesMax)
    if (text.length === whole.length && this.kept === this.total) return text
    return `${text}\n[clipped: ${Buffer.byteLength(text)} of ${this.total} bytes of output]`
  }
}

/** Keeps the first characters of a child's output, and reads the rest without keeping it. */
export class FirstChars {
  private readonly decoder = new StringDecoder('utf8')
  private readonly most: number
  private kept = ''

  constructor(most: number) {
    this.most = most
  }

  add(chunk: Buffer): void {
    if (this.kept.length < this.most) this.kept += this.decoder.write(chunk)
  }

  /** Its end trimmed: blanks alone are no output. */
  text(): string {
    return this.kept
      .slice(0, this.most)
      .replace(/[\uD800-\uDBFF]$/, '')
      .trimEnd()
  }
}

/** Keeps the end of a child's standard error, which is where programs say why they stopped. */
export class Tail {
  private text: Buffer = Buffer.alloc(0)

  add(chunk: Buffer): void {
    this.text = Buffer.concat([this.text, chunk]).subarray(-tailBytes)
  }

  summary(what: string): string {
    const end = this.end(summaryCharsMax - what.length - 3)
    return end === '' ? what : `${what}: ${end}`
  }

  /** The last characters of it; '' when nothing but blanks came. */
  end(charsMax = summaryCharsMax - 1): string {
    const said = textOf(this.text).trim()
    return said.length > charsMax ? `…${said.slice(-charsMax)}`.replace(/^…[\uDC00-\uDFFF]/, '…') : said
  }
}

/** Bytes that are no UTF-8 (a character cut in two, or no text at all) become U+FFFD; at the cut it is left out. */
const textOf = (bytes: Buffer): string => bytes.toString('utf8').replace(/\uFFFD{1,3}$/, '')

/** The longest beginning whose JSON fits, cut between characters: a quote or a control character takes 2 to 6 bytes there. */
function fitting(text: string, bytesMax: number): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= bytesMax) return text
  let [low, high] = [0, text.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (Buffer.byteLength(JSON.stringify(text.slice(0, middle))) <= bytesMax) low = middle
    else high = middle - 1
  }
  return text.slice(0, low).replace(/[\uD800-\uDBFF]$/, '')
}
