import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

export const modelTable = table('models', {
  id: text,
  name: text,
  provider: literal<
    | 'openai'
    | 'anthropic'
    | 'google'
    | 'ollama'
    | 'litellm'
    | 'openrouter'
    | 'openai-compatible'
    | 'llama'
    | 'cli'
  >(),
  model_id: text,
  /** Null means the default of the provider. */
  base_url: orNull(text),
  key_sealed: orNull(text),
  credential_id: orNull(text),
  context_window: number,
  max_output_tokens: orNull(number),
  supports: json(),
  price: orNull(json()),
  fallbacks: json<string[]>(),
  enabled: flag,
  created_at: text,
  updated_at: text,
  /** Null if the model creates no vectors. */
  embedding: orNull(json()),
  /** ID of the organization that owns the model. Null for the models of the installation. */
  user_id: orNull(text),
});
export type ModelRow = Row<typeof modelTable>;

export const modelRouteTable = table('model_routes', {
  topic: text,
  primary: text,
  fallbacks: json<string[]>(),
});
export type ModelRouteRow = Row<typeof modelRouteTable>;

export const modelCallTable = table('model_calls', {
  id: text,
  user_id: text,
  agent_id: text,
  hook_id: orNull(text),
  model: text,
  input_tokens: number,
  output_tokens: number,
  /** USD. Null if the model has no price. */
  cost_usd: orNull(number),
  latency_ms: number,
  at: text,
});
export type ModelCallRow = Row<typeof modelCallTable>;

export const reservationTable = table('reservations', {
  id: text,
  user_id: text,
  agent_id: text,
  /** Parent of the agent, in case the agent is removed before the call ends. */
  parent_id: orNull(text),
  hook_id: orNull(text),
  day: text,
  model: text,
  input_tokens: number,
  output_tokens: number,
  cost_usd: orNull(number),
  created_at: text,
});
export type ReservationRow = Row<typeof reservationTable>;
