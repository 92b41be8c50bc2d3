/** A model of the registry. */
export interface ModelRow {
  id: string;
  name: string;
  provider:
    | 'openai'
    | 'anthropic'
    | 'google'
    | 'ollama'
    | 'litellm'
    | 'openrouter'
    | 'openai-compatible'
    | 'cli';
  model_id: string;
  /** The base URL. null: the provider's own. */
  base_url: string | null;
  key_sealed: string | null;
  /** A vault entry that replaces a key of its own. */
  credential_id: string | null;
  context_window: number;
  max_output_tokens: number | null;
  supports: string;
  price: string | null;
  /** Names, in the order in which they are tried. */
  fallbacks: string;
  enabled: number;
  created_at: string;
  updated_at: string;
}

/** The models for a topic. */
export interface ModelRouteRow {
  topic: string;
  primary: string;
  fallbacks: string;
}

/** One answer of a model, with its tokens and cost. */
export interface ModelCallRow {
  id: string;
  user_id: string;
  agent_id: string;
  hook_id: string | null;
  model: string;
  input_tokens: number;
  output_tokens: number;
  /** The cost in USD, or null if the model has no price. */
  cost_usd: number | null;
  latency_ms: number;
  at: string;
}

/** The most that a call of a model under way may use. */
export interface ReservationRow {
  id: string;
  user_id: string;
  agent_id: string;
  /** The parent of the agent, in case the agent is removed before the call ends. */
  parent_id: string | null;
  hook_id: string | null;
  /** The day as 2026-03-01, in UTC. */
  day: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  /** The cost in USD, or null if the model has no price. */
  cost_usd: number | null;
  created_at: string;
}
