import type { Generated } from 'kysely';
import type {
  AuthSessionRow,
  PasskeyChallengeRow,
  PasskeyGrantRow,
  PasskeyRow,
  TotpRow,
  UserRow,
} from './tables/accounts.js';
import type { AgentEventRow, AgentRow, MessageRow, SessionRow } from './tables/agents.js';
import type { DeliveryClaimRow, DeliveryRow, ExecutionRow, HookRow } from './tables/hooks.js';
import type { IdempotencyRow, JobRow } from './tables/jobs.js';
import type { NotificationRow } from './tables/notifications.js';

/** Rows as SQLite holds them: JSON and times are TEXT, booleans 0 or 1. */
export interface Tables {
  users: UserRow;
  auth_sessions: AuthSessionRow;
  login_failures: { account: string; address: string; count: number; last_at: string };
  signing_keys: { id: string; sealed: string; created_at: string };
  facts: { name: string; value: string };
  idempotency: IdempotencyRow;
  jobs: Given<JobRow, 'id' | 'attempts' | 'boot'>;
  hooks: Given<HookRow, 'executions' | 'runs'>;
  deliveries: DeliveryRow;
  executions: Given<ExecutionRow, 'effect' | 'attempts'>;
  delivery_claims: DeliveryClaimRow;
  sessions: Given<SessionRow, 'message_count'>;
  messages: MessageRow;
  agents: Given<AgentRow, 'steps' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'active_ms'>;
  agent_events: AgentEventRow;
  daily_usage: { user_id: string; day: string; cost_usd: number; tokens: number };
  notifications: NotificationRow;
  totp: TotpRow;
  recovery_codes: { user_id: string; digest: string; used_at: string | null };
  passkeys: PasskeyRow;
  passkey_challenges: PasskeyChallengeRow;
  passkey_grants: PasskeyGrantRow;
}

/** Columns that the database fills in where an insert leaves them out. */
type Given<Row, K extends keyof Row> = Omit<Row, K> & { [P in K]: Generated<Row[P]> };
