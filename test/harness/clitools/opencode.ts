/** OpenCode 1.18.33, `run --format json`. */
const sessionID = 'ses_e022c7ceeffeYUHZrgqbIh7ajK';
const event = (type: string, part: unknown) => ({ type, timestamp: 1, sessionID, part });

export const begins = [event('step_start', { type: 'step-start' })];

export const says = (text: string) => event('text', { type: 'text', text });

export const ends = (_text: string) => [
  event('step_finish', {
    type: 'step-finish',
    reason: 'stop',
    tokens: { total: 16, input: 11, output: 5, reasoning: 0, cache: { write: 0, read: 0 } },
    cost: 0,
  }),
];

const refused = (statusCode: number) => [
  {
    type: 'error',
    timestamp: 1,
    sessionID,
    error: { name: 'APIError', data: { message: 'no', statusCode, isRetryable: false } },
  },
];

export const refuses = { quota: refused(429), login: refused(401) };

export const acts = event('tool_use', { type: 'tool', tool: 'bash', state: {} });
