/** Codex 0.169.0, `exec --json`. */
const completed = (item: unknown) => ({ type: 'item.completed', item });

export const begins = [
  { type: 'thread.started', thread_id: '01a1fdcf-87d6-7393-b623-66fd056ec845' },
  completed({ id: 'item_0', type: 'error', message: 'Model metadata not found.' }),
  { type: 'turn.started' },
];

export const says = (text: string) => completed({ id: 'item_1', type: 'agent_message', text });

export const ends = (_text: string) => [
  {
    type: 'turn.completed',
    usage: { input_tokens: 11, cached_input_tokens: 2, output_tokens: 5 },
  },
];

const refused = (message: string) => [
  { type: 'error', message },
  { type: 'turn.failed', error: { message } },
];

export const refuses = {
  quota: refused("You've hit your usage limit. Try again at 3:05 PM."),
  login: refused('unexpected status 401 Unauthorized: bad key, url: https://example.org/'),
};

export const acts = {
  type: 'item.started',
  item: { id: 'item_1', type: 'command_execution', command: 'cat x', status: 'in_progress' },
};
