import type {
  AccessToken,
  Account,
  Agent,
  Approval,
  AuditEntry,
  ConversationMessage,
  Credential,
  Execution,
  Hook,
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
  PipelineTemplate,
  Reply,
  ResearchJobDetail,
  SentMail,
  TaskView,
  TunnelView,
} from '../../src/client/index.js';
import type { CapabilityItem, HardwareItem } from './capabilities.js';
import type { RunItem, StageItem } from './runs.js';
import type { Thing } from './things.js';

/** Id of the only row in the list of tunnels. */
export const TUNNEL = 'tunnel';
/** Id of the only row in the list of what the last search found. */
export const FOUND = 'found';

/** The views of tasks, in the order of their tabs. */
export const TASK_VIEWS = ['next', 'today', 'overdue', 'all'] as const;

/** The type of the rows of each list. */
export interface RowOf {
  hooks: Hook;
  executions: Execution;
  approvals: Approval;
  agents: Agent;
  /** One agent and all agents below it. */
  tree: Agent;
  /** The messages of one session. */
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
  /** The lines of the log, from one level on. */
  logs: LogRow;
  /** One row, because there is one tunnel. */
  tunnel: TunnelView & { id: typeof TUNNEL };
  operations: Operation;
  /** The entries of the knowledge. */
  entries: KnowledgeEntry;
  /** One row: what the last search found. */
  found: FoundItem;
  /** One chunk of an entry. */
  chunks: ChunkItem;
  /** One page of a document. */
  documentPages: DocumentPageItem;
  /** One question of research, with its sources and its report. */
  reports: ResearchJobDetail;
  /** The answers to the questions of this desk. */
  answers: AnswerItem;
  /** The tasks of one of `TASK_VIEWS`. */
  tasks: TaskView;
  /** The parts of one task. */
  parts: TaskView;
  /** The task of which the selected one is a part. */
  parents: TaskView;
  /** The runs of pipelines, or those that the stages of one run have begun. */
  runs: RunItem;
  /** The templates of pipelines, for their names. */
  templates: PipelineTemplate;
  /** The stages of one run. */
  stages: StageItem;
  capabilities: CapabilityItem;
  /** One row: this machine, and the models that fit it. */
  hardware: HardwareItem;
  /** E-mails, without their text. */
  mails: MailMessage;
  /** The e-mails of one thread. */
  threadMails: MailMessage;
  /** One e-mail, with its text. */
  wholeMails: MailMessageDetail;
  /** Drafts of e-mails. */
  drafts: MailDraft;
  sentMails: SentMail;
  mailAccounts: MailAccount;
  /** The rows of any resource without a screen of its own. */
  things: Thing;
}

export type ListName = keyof RowOf;

/** One result of a search in the knowledge. */
export type SearchHit = KnowledgeResults['results'][number];

/** The reply to a search, and the query that it was for. */
export interface FoundItem extends KnowledgeResults {
  id: typeof FOUND;
  query: string;
}

/** A chunk of an entry, whole; its id is that of `chunkKey`. */
export interface ChunkItem extends Reply<'knowledge', 'chunk'> {
  id: string;
}

/** Returns the id of a chunk: the id of its entry, and its number. */
export const chunkKey = (entryId: string, chunk: number | string): string => `${entryId} ${chunk}`;

/** A page of a document; its id is that of `pageKey`. */
export interface DocumentPageItem extends Reply<'documents', 'page'> {
  id: string;
  /** The reason why the document has no such page; null if it has. */
  error: string | null;
}

/** Returns the id of a page: the id of its document, and its number from 1. */
export const pageKey = (documentId: string, page: number | string): string =>
  `${documentId} ${page}`;

/** An answer; its id is the question. */
export interface AnswerItem extends KnowledgeAnswer {
  id: string;
}

/** A line of the daemon's log, or a gap of lines that the daemon no longer held when asked. */
export type LogRow = { id: string } & (
  | { is: 'line'; entry: LogEntry }
  | { is: 'gap'; from: number; to: number }
);
export type LogLevel = LogEntry['level'];

/** A command-line tool that can be a model, with the quota that it reported. */
export interface CliToolItem {
  id: string;
  name: string;
  /** The path; null if the tool is not installed. */
  path: string | null;
  version: string | null;
  /** True if the tool runs confined. */
  isRunnable: boolean;
  isLoggedIn: boolean;
  /** The quota: `used` of `limit`, or a fraction if the limit is 1. */
  quota: {
    used: number | null;
    limit: number | null;
    resetsAt: string | null;
    exhausted: boolean | null;
  } | null;
}

/** The models of a topic, in the order in which they are tried. */
export interface RouteItem {
  id: string;
  topic: string;
  models: string[];
}
