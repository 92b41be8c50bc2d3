export type { AuditEntry, AuditVerdict } from '../accounts/audit/contract.js';
export type { LoginSession } from '../accounts/loginsessions/contract.js';
export type { Passkey } from '../accounts/passkeys/contract.js';
export type { AccessToken } from '../accounts/tokens/contract.js';
export type { Account, AccountChanges, AccountPasskey } from '../accounts/users/contract.js';
export type { ChatAnswer } from '../agents/chat/contract.js';
export type { Agent, TextDelta } from '../agents/contract.js';
export { contracts } from '../api.js';
export type { Grant } from '../approvals/grants/contract.js';
export type { Capability, Hardware, ModelFit } from '../capabilities/contract.js';
export type { Channel } from '../channels/contract.js';
export type { PlatformReply } from '../channels/platforms/contract.js';
export type { Session } from '../conversations/contract.js';
export type { DocumentView } from '../documents/contract.js';
export type { MailAccount } from '../email/accounts/contract.js';
export type { MailDraft } from '../email/drafts/contract.js';
export type { MailMessage, MailMessageDetail } from '../email/messages/contract.js';
export type { SentMail, SentMailDetail } from '../email/sending/contract.js';
export type { ExpertReply } from '../experts/contract.js';
export type { KnowledgeFolder } from '../folders/contract.js';
export type { Hook } from '../hooks/contract.js';
export type { Execution, ExecutionSummary } from '../hooks/executions/contract.js';
export type { RefusedDelivery } from '../hooks/inbound/contract.js';
export type { HookReply } from '../hooks/replies/contract.js';
export type { SenderVerification } from '../hooks/senders/contract.js';
export type { PresetName } from '../hooks/senders/presets.js';
export type { SignatureRecipe } from '../hooks/senders/recipe.js';
export type { Approval } from '../kernel/contract/approval.js';
export type { Endpoint } from '../kernel/contract/endpoint.js';
export { formatNoticeHeadline } from '../kernel/contract/headline.js';
export type { Login, User } from '../kernel/contract/login.js';
export type { Operation, OperationPreview } from '../kernel/contract/operation.js';
export { parseExact } from '../kernel/exactjson.js';
export { timeDigits } from '../kernel/ids.js';
export { isRecord, withoutMark } from '../kernel/jsonvalue.js';
export type {
  KnowledgeAnswer,
  KnowledgeEntry,
  KnowledgeIndex,
  KnowledgeResults,
} from '../knowledge/contract.js';
export type { Memory } from '../memories/contract.js';
export type { ModelView } from '../models/contract.js';
export type { AdminOrg, Org, OrgInvite, OrgMember } from '../orgs/contract.js';
export type { ScimLogEntry } from '../orgs/scim/contract.js';
export type { OrgDomain, SsoSettings } from '../orgs/sso/contract.js';
export type { OutboundMessageView } from '../outbound/messages/contract.js';
export type {
  Notification,
  NotificationPreferences,
  PreferenceChanges,
} from '../outbound/notifications/contract.js';
export type { OutgoingWebhook, WebhookDelivery } from '../outbound/webhooks/contract.js';
export type { Permission } from '../permissions/contract.js';
export type { PipelineRun, PipelineRunDetail } from '../pipelines/runs/contract.js';
export type { PipelineTemplate, TemplateCheck } from '../pipelines/templates/contract.js';
export type { ReaderTask, ReaderTaskDetail } from '../reader/contract.js';
export type { RecurringRun, RecurringTask } from '../recurring/contract.js';
export type { ResearchJob, ResearchJobDetail } from '../research/contract.js';
export type { ListedTool, SkillReply } from '../skills/contract.js';
export type { BackupView } from '../system/backup/contract.js';
export type { LogEntry } from '../system/logs/contract.js';
export type { Need, Overview } from '../system/overview/contract.js';
export type { TunnelCheck, TunnelSettingsInput, TunnelView } from '../system/tunnel/contract.js';
export type { TaskView } from '../tasks/contract.js';
export type { Credential, CredentialVersion } from '../vault/contract.js';
export type { TranscriptionDetail, TranscriptionView } from '../voice/contract.js';
export {
  type Client,
  type ConversationMessage,
  createClient,
  type EndpointName,
  type Reply,
} from './client.js';
export { ApiError, Unreachable } from './errors.js';
export { loadSenders } from './senders.js';
