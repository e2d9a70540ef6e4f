/**
 * Runs of Claude Code and Codex as they print them, shortened, written by hand after the published types: `SDKMessage` of the
 * Agent SDK, and `ThreadEvent` in codex-rs/exec/src/exec_events.rs.
 */

const lines = (events: readonly object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')

const sessionId = '3f1c2b6e-5f0e-4f61-9a39-5b1c1d0f7a10'
const assistant = (id: string, content: object, usage: object, parent: string | null = null) => ({
  type: 'assistant',
  message: { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [content], usage },
  parent_tool_use_id: parent,
  session_id: sessionId,
})
const toolUse = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const toolResult = (id: string, content: unknown, isError?: boolean) => ({
  type: 'user',
  message: {
    role: 'user',
    content: [{ tool_use_id: id, type: 'tool_result', content, ...(isError ? { is_error: true } : {}) }],
  },
  parent_tool_use_id: null,
  session_id: sessionId,
})
const usage = (input: number, output: number) => ({
  input_tokens: input,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 1000,
  output_tokens: output,
  service_tier: 'standard',
})
const init = {
  type: 'system',
  subtype: 'init',
  session_id: sessionId,
  model: 'claude-sonnet-4-5',
  cwd: '/home/agent',
  tools: ['Bash', 'Read', 'Write', 'Task'],
  mcp_servers: [],
  permissionMode: 'default',
}
const resultOf = (more: object) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  duration_ms: 8012,
  duration_api_ms: 7011,
  num_turns: 5,
  session_id: sessionId,
  total_cost_usd: 0.0421,
  usage: usage(20, 80),
  permission_denials: [],
  ...more,
})

const notGranted = "Claude requested permissions to write to /home/agent/brief.md, but you haven't granted it yet."

export const claude = {
  /** A command that works, one that fails, a file that may not be written, a subagent's call; then the answer. */
  works: lines([
    init,
    assistant('msg_01', { type: 'text', text: 'I look at the mail first.' }, usage(3, 1)),
    assistant('msg_01', toolUse('toolu_01', 'Bash', { command: 'ls mail', description: 'List mail' }), usage(3, 30)),
    toolResult('toolu_01', 'a.txt\nb.txt'),
    assistant('msg_02', toolUse('toolu_02', 'Bash', { command: 'cat mail/c.txt' }), usage(5, 10)),
    toolResult('toolu_02', 'Exit code 1\ncat: mail/c.txt: No such file or directory', true),
    assistant(
      'msg_03',
      toolUse('toolu_03', 'Write', { file_path: '/home/agent/brief.md', content: 'Brief' }),
      usage(5, 10),
    ),
    toolResult('toolu_03', notGranted, true),
    assistant('msg_04', toolUse('toolu_04', 'Read', { file_path: 'mail/a.txt' }), usage(5, 10), 'toolu_00'),
    toolResult('toolu_04', [
      { type: 'text', text: 'Dear all' },
      { type: 'image', source: { type: 'base64' } },
    ]),
    assistant('msg_05', { type: 'text', text: 'Two mails.' }, usage(2, 19)),
    resultOf({
      result: 'Two mails, none urgent.',
      permission_denials: [
        { tool_name: 'Write', tool_use_id: 'toolu_03', tool_input: { file_path: '/home/agent/brief.md' } },
      ],
    }),
  ]),
  quiet: lines([init, resultOf({ result: '' })]),
  /** What the API refused comes as a success with `is_error`. */
  apiError: lines([
    init,
    resultOf({
      is_error: true,
      result: 'API Error: 529 overloaded',
      total_cost_usd: 0,
      usage: { input_tokens: 0, output_tokens: 0 },
    }),
  ]),
  maxTurns: lines([init, resultOf({ subtype: 'error_max_turns', errors: [] })]),
  crashed: lines([init, resultOf({ subtype: 'error_during_execution', errors: ['Request was aborted.'] })]),
  /** Nothing but the beginning: it was stopped before it came to a result. */
  cutOff: lines([
    init,
    assistant('msg_01', toolUse('toolu_01', 'Bash', { command: 'make' }), usage(3, 30)),
    assistant('msg_02', toolUse('toolu_02', 'Bash', { command: 'make test' }), usage(5, 10)),
  ]),
  polls: (times: number) =>
    lines([
      init,
      ...Array.from({ length: times }, (_, n) => [
        assistant(`msg_${n}`, toolUse(`toolu_${n}`, 'Bash', { command: 'sleep 60; cat rate.txt' }), usage(1, 1)),
        toolResult(`toolu_${n}`, '1.07'),
      ]).flat(),
    ]),
}

const item = (type: 'started' | 'updated' | 'completed', id: string, details: object) => ({
  type: `item.${type}`,
  item: { id, ...details },
})
const command = (text: string, more: object) => ({
  type: 'command_execution',
  command: `bash -lc '${text}'`,
  aggregated_output: '',
  exit_code: null,
  status: 'in_progress',
  ...more,
})
const started = [
  { type: 'thread.started', thread_id: '0199a213-81c0-7800-8aa1-bbab2a035a53' },
  { type: 'turn.started' },
]
const mcp = { type: 'mcp_tool_call', server: 'mail', tool: 'send', arguments: { to: 'a@example.com' } }

export const codex = {
  works: lines([
    ...started,
    item('completed', 'item_0', { type: 'reasoning', text: '**Looking at the mail**' }),
    item('started', 'item_1', command('ls mail', {})),
    item(
      'completed',
      'item_1',
      command('ls mail', { aggregated_output: 'a.txt\n', exit_code: 0, status: 'completed' }),
    ),
    item('started', 'item_2', command('cat c.txt', {})),
    item(
      'completed',
      'item_2',
      command('cat c.txt', { aggregated_output: 'cat: c.txt: No such file', exit_code: 1, status: 'failed' }),
    ),
    item('started', 'item_3', command('rm -rf mail', {})),
    item('completed', 'item_3', command('rm -rf mail', { status: 'declined' })),
    item('completed', 'item_4', {
      type: 'file_change',
      changes: [{ path: 'brief.md', kind: 'add' }],
      status: 'completed',
    }),
    item('started', 'item_5', { ...mcp, result: null, error: null, status: 'in_progress' }),
    item('completed', 'item_5', {
      ...mcp,
      result: null,
      error: { message: 'user cancelled MCP tool call' },
      status: 'failed',
    }),
    item('started', 'item_6', { type: 'todo_list', items: [{ text: 'read', completed: true }] }),
    item('completed', 'item_7', {
      type: 'web_search',
      id: 'ws_1',
      query: 'weather Utrecht',
      action: { type: 'search' },
    }),
    item('completed', 'item_8', { type: 'agent_message', text: 'I begin.' }),
    item('completed', 'item_9', { type: 'agent_message', text: 'One mail, none urgent.' }),
    { type: 'turn.completed', usage: { input_tokens: 24763, cached_input_tokens: 24448, output_tokens: 122 } },
  ]),
  failed: lines([
    ...started,
    { type: 'error', message: 'Reconnecting... 1/5' },
    { type: 'turn.failed', error: { message: "You've hit your usage limit." } },
  ]),
  reconnected: lines([
    ...started,
    { type: 'error', message: 'Reconnecting... 1/5' },
    item('completed', 'item_0', { type: 'agent_message', text: 'Back.' }),
    { type: 'turn.completed', usage: { input_tokens: 10, cached_input_tokens: 0, output_tokens: 2 } },
  ]),
}
