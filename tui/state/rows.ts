import type {
  AccessToken,
  Account,
  AdminOrg,
  Agent,
  Approval,
  AuditEntry,
  ConversationMessage,
  Credential,
  Execution,
  Hook,
  HookReply,
  KnowledgeAnswer,
  KnowledgeEntry,
  KnowledgeResults,
  LogEntry,
  LoginSession,
  MailAccount,
  MailDraft,
  MailMessage,
  MailMessageDetail,
  ModelView,
  Notification,
  Operation,
  Org,
  OrgInvite,
  PipelineTemplate,
  Reply,
  ResearchJobDetail,
  SentMail,
  SentMailDetail,
  TaskView,
  TunnelView,
} from '../../src/client/index.js';
import type { CapabilityItem, HardwareItem } from './capabilities.js';
import type { OrgMemberItem, OrgSettingsItem } from './orgs.js';
import type { RunItem, StageItem } from './pipelineruns.js';
import type { BrowsedRow } from './resources.js';

export const TUNNEL = 'tunnel';
export const FOUND = 'found';

/** Views of tasks, in the order of their tabs. */
export const TASK_VIEWS = ['next', 'today', 'overdue', 'all'] as const;

/** Row type of each list. */
export interface RowOf {
  hooks: Hook;
  executions: Execution;
  /** Replies of one hook. */
  replies: HookReply;
  approvals: Approval;
  agents: Agent;
  tree: Agent;
  /** Messages of one session. */
  messages: ConversationMessage;
  notifications: Notification;
  credentials: Credential;
  models: ModelView;
  clitools: CliToolItem;
  users: Account;
  routes: RouteItem;
  audit: AuditEntry;
  logins: LoginSession;
  tokens: AccessToken;
  /** Log lines of one level and above. */
  logs: LogRow;
  /** One row: there is one tunnel. */
  tunnel: TunnelView & { id: typeof TUNNEL };
  operations: Operation;
  entries: KnowledgeEntry;
  /** One row: the last search. */
  found: FoundItem;
  chunks: ChunkItem;
  documentPages: DocumentPageItem;
  reports: ResearchJobDetail;
  /** Answers to the questions of this desk. */
  answers: AnswerItem;
  tasks: TaskView;
  parts: TaskView;
  /** Parent of the selected task. */
  parents: TaskView;
  runs: RunItem;
  /** Pipeline templates, for their names. */
  templates: PipelineTemplate;
  stages: StageItem;
  capabilities: CapabilityItem;
  /** One row: this machine, and the models that fit it. */
  hardware: HardwareItem;
  /** E-mails without their text. */
  mails: MailMessage;
  threadMails: MailMessage;
  /** One e-mail with its text. */
  wholeMails: MailMessageDetail;
  drafts: MailDraft;
  sentMails: SentMail;
  /** One sent e-mail with its text. */
  wholeSentMails: SentMailDetail;
  mailAccounts: MailAccount;
  orgs: Org;
  /** All organizations without approval, for admins of the installation. */
  waitingOrgs: AdminOrg;
  orgMembers: OrgMemberItem;
  orgInvites: OrgInvite;
  orgSettings: OrgSettingsItem;
  /** Rows of a browsed resource. */
  things: BrowsedRow;
}

export type ListName = keyof RowOf;

export type SearchHit = KnowledgeResults['results'][number];

/** Search reply with its query. */
export interface FoundItem extends KnowledgeResults {
  id: typeof FOUND;
  query: string;
}

/** A whole chunk. Its id is that of `chunkKey`. */
export interface ChunkItem extends Reply<'knowledge', 'chunk'> {
  id: string;
}

/** Entry id and chunk number. */
export const chunkKey = (entryId: string, chunk: number | string): string => `${entryId} ${chunk}`;

/** Page of a document. Its id is that of `pageKey`. */
export interface DocumentPageItem extends Reply<'documents', 'page'> {
  id: string;
  /** Reason why the document has no such page. `null` if it has. */
  error: string | null;
}

/** Document id and page number from 1. */
export const pageKey = (documentId: string, page: number | string): string =>
  `${documentId} ${page}`;

/** An answer. Its id is the question. */
export interface AnswerItem extends KnowledgeAnswer {
  id: string;
}

/** A log line, or a gap of lines that were no longer in memory when requested. */
export type LogRow = { id: string } & (
  | { is: 'line'; entry: LogEntry }
  | { is: 'gap'; from: number; to: number }
);
export type LogLevel = LogEntry['level'];

/** CLI tool that can be a model, with its reported quota. */
export interface CliToolItem {
  id: string;
  name: string;
  /** `null` if the tool is not installed. */
  path: string | null;
  version: string | null;
  /** Whether the tool runs confined. */
  isRunnable: boolean;
  isLoggedIn: boolean;
  /** `used` of `limit`, or a fraction if the limit is 1. */
  quota: {
    used: number | null;
    limit: number | null;
    resetsAt: string | null;
    exhausted: boolean | null;
  } | null;
}

export interface RouteItem {
  id: string;
  topic: string;
  models: string[];
}
