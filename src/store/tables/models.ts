import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

/** A model of the registry. */
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
  /** The base URL. null: the provider's own. */
  base_url: orNull(text),
  key_sealed: orNull(text),
  /** A vault entry that replaces a key of its own. */
  credential_id: orNull(text),
  context_window: number,
  max_output_tokens: orNull(number),
  supports: json(),
  price: orNull(json()),
  /** Names, in the order in which they are tried. */
  fallbacks: json<string[]>(),
  enabled: flag,
  created_at: text,
  updated_at: text,
  /** The facts of the vectors that it makes; null: it makes none. */
  embedding: orNull(json()),
});
export type ModelRow = Row<typeof modelTable>;

/** The models for a topic. */
export const modelRouteTable = table('model_routes', {
  topic: text,
  primary: text,
  fallbacks: json<string[]>(),
});
export type ModelRouteRow = Row<typeof modelRouteTable>;

/** One reply of a model, with its tokens and cost. */
export const modelCallTable = table('model_calls', {
  id: text,
  user_id: text,
  agent_id: text,
  hook_id: orNull(text),
  model: text,
  input_tokens: number,
  output_tokens: number,
  /** The cost in USD, or null if the model has no price. */
  cost_usd: orNull(number),
  latency_ms: number,
  at: text,
});
export type ModelCallRow = Row<typeof modelCallTable>;

/** The most that a call of a model under way may use. */
export const reservationTable = table('reservations', {
  id: text,
  user_id: text,
  agent_id: text,
  /** The parent of the agent, in case the agent is removed before the call ends. */
  parent_id: orNull(text),
  hook_id: orNull(text),
  /** The day as 2026-03-01, in UTC. */
  day: text,
  model: text,
  input_tokens: number,
  output_tokens: number,
  /** The cost in USD, or null if the model has no price. */
  cost_usd: orNull(number),
  created_at: text,
});
export type ReservationRow = Row<typeof reservationTable>;
