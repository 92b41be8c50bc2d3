/** Claude Code 2.1.197, `--print --output-format stream-json --verbose --include-partial-messages`. */
const session_id = 'e7ef54e7-1dcf-4404-9bf6-6d2fe46c2e58';
const ofStream = (event: unknown) => ({ type: 'stream_event', event, session_id, uuid: 'u' });

export const begins = [
  { type: 'system', subtype: 'init', cwd: '/', session_id, tools: [], mcp_servers: [] },
  { type: 'system', subtype: 'status', status: 'requesting', session_id },
  ofStream({ type: 'message_start', message: { role: 'assistant', content: [] } }),
  ofStream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
];

export const says = (text: string) =>
  ofStream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

const result = {
  type: 'result',
  subtype: 'success',
  api_error_status: null,
  num_turns: 1,
  session_id,
  total_cost_usd: 0.00018,
};

export const ends = (text: string) => [
  {
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    session_id,
  },
  ofStream({ type: 'message_stop' }),
  {
    ...result,
    is_error: false,
    result: text,
    stop_reason: 'end_turn',
    usage: { input_tokens: 6, cache_read_input_tokens: 5, output_tokens: 5 },
  },
];

const refused = (error: string, text: string, status: number | null) => [
  {
    type: 'assistant',
    message: { model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] },
    session_id,
    error,
  },
  { ...result, is_error: true, api_error_status: status, result: text },
];

export const limited = (resetsAt: number) => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour', utilization: 1 },
  session_id,
});

export const refuses = {
  quota: refused('rate_limit', 'API Error: Request rejected (429)', 429),
  login: refused('authentication_failed', 'Not logged in · Please run /login', null),
};

export const acts = {
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
};
