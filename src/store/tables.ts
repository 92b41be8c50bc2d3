import type { Generated } from 'kysely';
import type {
  AccessTokenRow,
  AuthSessionRow,
  CodeFailuresRow,
  DeviceTokenRow,
  InviteRow,
  LoginPlaceRow,
  PasskeyChallengeRow,
  PasskeyGrantRow,
  PasskeyRow,
  SigningKeyRow,
  TotpRow,
  UserRow,
} from './tables/accounts.js';
import type {
  AgentEventRow,
  AgentRow,
  DayRow,
  MessageRow,
  RunNoticeRow,
  SessionRow,
} from './tables/agents.js';
import type { AuditRow } from './tables/audit.js';
import type { BackupRow } from './tables/backups.js';
import type { ChannelPartsRow, ChannelRow, LinkCodeRow } from './tables/channels.js';
import type { ExpertRow } from './tables/experts.js';
import type { DeliveryClaimRow, DeliveryRow, ExecutionRow, HookRow } from './tables/hooks.js';
import type { IdempotencyRow, JobRow } from './tables/jobs.js';
import type { ModelCallRow, ModelRouteRow, ModelRow, ReservationRow } from './tables/models.js';
import type { NotificationRow } from './tables/notifications.js';
import type {
  OutgoingEventRow,
  SendingAttemptRow,
  SendingRow,
  WebhookRow,
} from './tables/outbox.js';
import type { ApprovalRow, PermissionRow } from './tables/permissions.js';
import type { InboundEventRow, PlatformRow, SendingPartRow } from './tables/platforms.js';
import type {
  HeldNoticeRow,
  NoticeBatchRow,
  NotificationChoiceRow,
  NotificationSettingsRow,
} from './tables/preferences.js';
import type { McpListingRow, McpPinRow, McpServerRow } from './tables/skills.js';
import type { TunnelReachRow, TunnelRow } from './tables/tunnel.js';
import type { CredentialRow, CredentialVersionRow } from './tables/vault.js';

/** Rows as SQLite stores them: JSON and times are TEXT, booleans 0 or 1. */
export interface Tables {
  users: WithDefaults<UserRow, 'limits' | 'permissions' | 'login_epoch'>;
  auth_sessions: WithDefaults<
    AuthSessionRow,
    'impersonator_id' | 'impersonator_session_id' | 'proven_at'
  >;
  device_tokens: DeviceTokenRow;
  code_failures: WithDefaults<CodeFailuresRow, 'locks'>;
  login_places: LoginPlaceRow;
  invites: InviteRow;
  login_failures: { account: string; address: string; count: number; last_at: string };
  access_tokens: AccessTokenRow;
  signing_keys: SigningKeyRow;
  facts: { name: string; value: string };
  idempotency: IdempotencyRow;
  jobs: WithDefaults<JobRow, 'id' | 'attempts' | 'boot'>;
  hooks: WithDefaults<HookRow, 'executions' | 'runs'>;
  deliveries: DeliveryRow;
  executions: WithDefaults<ExecutionRow, 'effect' | 'attempts' | 'hops'>;
  delivery_claims: DeliveryClaimRow;
  sessions: WithDefaults<SessionRow, 'message_count' | 'untrusted' | 'channel_id'>;
  messages: MessageRow;
  agents: WithDefaults<
    AgentRow,
    | 'steps'
    | 'input_tokens'
    | 'output_tokens'
    | 'cost_usd'
    | 'active_ms'
    | 'depth'
    | 'parent_ms'
    | 'hops'
    | 'notices'
  >;
  agent_events: AgentEventRow;
  run_notices: WithDefaults<RunNoticeRow, 'id'>;
  daily_usage: WithDefaults<DayRow & { user_id: string }, 'steps'>;
  hook_usage: DayRow & { hook_id: string };
  experts: ExpertRow;
  models: ModelRow;
  model_routes: ModelRouteRow;
  model_calls: ModelCallRow;
  reservations: ReservationRow;
  notifications: WithDefaults<NotificationRow, 'direct' | 'hops'>;
  notification_settings: NotificationSettingsRow;
  notification_choices: NotificationChoiceRow;
  notice_batches: NoticeBatchRow;
  held_notices: HeldNoticeRow;
  audit: AuditRow;
  totp: TotpRow;
  recovery_codes: { user_id: string; digest: string; used_at: string | null };
  passkeys: PasskeyRow;
  mcp_servers: McpServerRow;
  mcp_listings: McpListingRow;
  mcp_pins: McpPinRow;
  passkey_challenges: PasskeyChallengeRow;
  passkey_grants: PasskeyGrantRow;
  channels: WithDefaults<ChannelRow & ChannelPartsRow, keyof ChannelPartsRow>;
  link_codes: LinkCodeRow;
  permissions: PermissionRow;
  approvals: ApprovalRow;
  credentials: WithDefaults<CredentialRow, 'expiry_told' | 'rotation_told'>;
  credential_versions: CredentialVersionRow;
  platforms: PlatformRow;
  inbound_events: InboundEventRow;
  sending_parts: SendingPartRow;
  sendings: WithDefaults<
    SendingRow & { resent_after: number },
    'attempts' | 'hops' | 'resent_after'
  >;
  sending_attempts: SendingAttemptRow;
  webhooks: WithDefaults<WebhookRow, 'enabled'>;
  outgoing_events: WithDefaults<OutgoingEventRow, 'hops'>;
  backups: BackupRow;
  tunnel: TunnelRow;
  tunnel_reach: TunnelReachRow;
}

/** Makes columns optional in an insert, because the database has defaults for them. */
type WithDefaults<Row, K extends keyof Row> = Omit<Row, K> & { [P in K]: Generated<Row[P]> };
