/** Gemini CLI 0.61.0, `--output-format stream-json`. */
const timestamp = '2026-03-01T12:00:00.000Z';

export const begins = [
  { type: 'init', timestamp, session_id: '4f57ddc5', model: 'gemini-2.5-pro' },
  { type: 'message', timestamp, role: 'user', content: 'the prompt' },
];

export const says = (content: string) => ({
  type: 'message',
  timestamp,
  role: 'assistant',
  content,
  delta: true,
});

const stats = { total_tokens: 16, input_tokens: 11, output_tokens: 5, cached: 0, tool_calls: 0 };

export const ends = (_text: string) => [{ type: 'result', timestamp, status: 'success', stats }];

const refused = (message: string) => [
  { type: 'result', timestamp, status: 'error', error: { type: 'unknown', message }, stats },
];

export const refuses = {
  quota: refused('[API Error: Quota exceeded for this]\nPlease wait and try again later.'),
  login: refused('[API Error: {"error":{"type":"authentication_error","code":401}}]'),
};

export const acts = {
  type: 'tool_use',
  timestamp,
  tool_name: 'read_file',
  tool_id: 't',
  parameters: {},
};
