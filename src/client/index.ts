export type { Endpoint } from '../kernel/endpoint.js';
export { timeDigits } from '../kernel/ids.js';
export type { Agent } from '../resources/agents/contract.js';
export type { Approval } from '../resources/approvals/contract.js';
export type { AuditEntry, AuditVerdict } from '../resources/audit/contract.js';
export type { Login, User } from '../resources/auth/contract.js';
export type { Backup } from '../resources/backups/contract.js';
export type { Channel } from '../resources/channels/contract.js';
export type { ChatAnswer } from '../resources/chat/contract.js';
export type { Expert } from '../resources/experts/contract.js';
export type { Execution, Hook } from '../resources/hooks/contract.js';
export type { LoginSession } from '../resources/logins/contract.js';
export type { LogEntry } from '../resources/logs/contract.js';
export type { Model } from '../resources/models/contract.js';
export type {
  Notification,
  NotificationPreferences,
  PreferenceChanges,
} from '../resources/notifications/contract.js';
export type { Sending } from '../resources/outbox/contract.js';
export type { Need, Overview } from '../resources/overview/contract.js';
export type { Passkey } from '../resources/passkeys/contract.js';
export type { Permission } from '../resources/permissions/contract.js';
export type { Platform } from '../resources/platforms/contract.js';
export type { Session } from '../resources/sessions/contract.js';
export type { ListedTool, Skill } from '../resources/skills/contract.js';
export type { AccessToken } from '../resources/tokens/contract.js';
export type { Tunnel, TunnelCheck, TunnelSettings } from '../resources/tunnel/contract.js';
export type { Account, AccountChanges, AccountPasskey } from '../resources/users/contract.js';
export type { Credential, CredentialVersion } from '../resources/vault/contract.js';
export type { OutgoingWebhook, WebhookDelivery } from '../resources/webhooks/contract.js';
export {
  type Client,
  contracts,
  createClient,
  type EndpointName,
  type Message,
  type Reply,
} from './client.js';
export { ApiError, Unreachable } from './errors.js';
