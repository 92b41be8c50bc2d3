import type {
  Agent,
  Approval,
  ConversationMessage,
  Credential,
  Execution,
  Hook,
  KnowledgeEntry,
  LogEntry,
  Need,
  Notification,
  Operation,
  Overview,
  ResearchJobDetail,
  TunnelCheck,
  TunnelView,
} from '../../src/client/index.js';
import type { View } from '../../tui/page.js';
import { plainRowText, type ScreenRow } from '../../tui/parts/row.js';
import type { Feed } from '../../tui/state/feed.js';
import {
  FOUND,
  type FoundItem,
  type ListName,
  type LogRow,
  type RowOf,
  type SearchHit,
} from '../../tui/state/rows.js';
import { initialState, reduce, type State, type StateAction } from '../../tui/state/state.js';

/** Time of the view tests. */
export const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

/** State after these actions. */
export const known = (actions: StateAction[] = [], width = 80, height = 24): State => {
  const first: StateAction[] = [
    { type: 'session.known', version: '1.0.0', who: { username: 'ada', role: 'admin' } },
    { type: 'session.linked', link: { is: 'live' } },
  ];
  const initial = initialState('http://127.0.0.1:3005', { width, height }, NOW);
  return [...first, ...actions].reduce<State>(reduce, initial);
};

/** Rows of a view, without trailing spaces. */
export const shown = (view: View, state: State, width: number, height: number): string[] =>
  view(state, { width, height }).map((row) => plainRowText(row).trimEnd());

/** Marked parts of each row. */
export const marked = (rows: readonly ScreenRow[]): string[] =>
  rows.flatMap((row) => row.filter(({ tone }) => tone === 'match').map(({ text }) => text));

/** Loads nothing. */
export const quietFeed = (): Feed => ({
  list: () => () => {},
  overview: () => () => {},
  channels: () => () => {},
  follow: () => () => {},
  agents: { begin: () => () => {}, told: () => {}, wrote: () => {}, catchUp: async () => {} },
  isWanted: () => false,
  wantedChannels: () => [],
  onChannels: () => () => {},
  reload: async () => {},
  more: async () => {},
  reloadShown: async () => {},
  close: () => {},
});

export const aHook = (over: Partial<Hook> = {}): Hook => ({
  id: 'hook_01',
  orgId: null,
  name: 'github-issues',
  description: null,
  trigger: 'webhook',
  triggerConfig: { webhookPath: 'issues', webhookSecretSet: true },
  action: 'notify',
  actionConfig: { notifyMessage: 'Got it' },
  enabled: true,
  conditions: [],
  concurrency: null,
  cooldownMs: 0,
  maxExecutions: null,
  limits: null,
  stats: { executions: 412, lastExecutionAt: at(120), lastStatus: 'error' },
  createdAt: at(9000),
  updatedAt: at(9000),
  ...over,
});

export const anExecution = (over: Partial<Execution> = {}): Execution => ({
  id: 'execution_8f3k2a',
  orgId: null,
  hookId: 'hook_01',
  deliveryId: null,
  status: 'success',
  trigger: 'webhook',
  action: 'notify',
  triggerContext: {
    webhook: { path: 'issues', method: 'POST', headers: {}, body: { evil: '\u001b[2J' } },
    event: 'issues.opened',
    receivedAt: at(60),
  },
  result: { message: 'done' },
  error: null,
  attempts: 1,
  agentId: null,
  replayOf: null,
  durationMs: 42_000,
  createdAt: at(60),
  startedAt: at(59),
  finishedAt: at(17),
  ...over,
});

export const anApproval = (over: Partial<Approval> = {}): Approval => ({
  id: 'approval_01',
  orgId: null,
  agentId: 'agent_01jcx2kq7m8f3k2a9v5ztw4e6r',
  tool: 'shell',
  action: 'run',
  arguments: { argv: ['npm', 'test'], folder: '/tmp' },
  digest: `4f2a91c0${'0'.repeat(56)}`,
  reason: 'it has side effects',
  untrusted: true,
  status: 'pending',
  createdAt: at(60),
  expiresAt: new Date(NOW + 514_000).toISOString(),
  decidedAt: null,
  decidedBy: null,
  decisionReason: null,
  scopes: ['once'],
  details: [],
  ...over,
});

export const anAgent = (over: Partial<Agent> = {}): Agent => ({
  id: 'agent_01jcx2kq7m8f3k2a9v5ztw4e6r',
  orgId: null,
  name: 'triage-412',
  topic: null,
  role: null,
  model: 'openai/gpt',
  prompt: 'Triage the issue below.',
  status: 'running',
  untrusted: true,
  parentId: null,
  sessionId: 'session_01',
  hookId: 'hook_01',
  executionId: null,
  steps: 4,
  usage: { inputTokens: 12_000, outputTokens: 400, costUsd: 0.05 },
  limits: {
    maxSteps: 40,
    maxSeconds: 600,
    maxTokens: 100_000,
    maxAnswerTokens: 8192,
    maxCostUsd: 0.5,
    maxDepth: 2,
    maxAgents: 5,
  },
  result: null,
  note: null,
  error: null,
  createdAt: at(190),
  startedAt: at(189),
  finishedAt: null,
  ...over,
});

export const aMessage = (over: Partial<ConversationMessage> = {}): ConversationMessage => ({
  id: 'message_1',
  seq: 1,
  role: 'assistant',
  content: 'I will look whether the issue is known.',
  agentId: null,
  createdAt: at(100),
  ...over,
});

export const aNotification = (over: Partial<Notification> = {}): Notification => ({
  id: 'notification_01',
  kind: 'hook_failed',
  title: 'deploy-notify failed',
  body: '502 from the target',
  link: '/executions/execution_1',
  readAt: null,
  createdAt: at(60),
  ...over,
});

export const aCredential = (over: Partial<Credential> = {}): Credential => ({
  id: 'credential_01',
  orgId: null,
  name: 'github-pat',
  type: 'api_key',
  description: null,
  tags: [],
  allowedTools: ['http'],
  allowedHosts: ['api.github.example'],
  version: 3,
  expiresAt: null,
  rotateEveryDays: null,
  rotateDueAt: null,
  lastUsedAt: at(120),
  rotatedAt: at(9000),
  createdAt: at(9000),
  updatedAt: at(9000),
  ...over,
});

const aCheck: TunnelCheck = {
  ok: false,
  address: 'https://hooks.example.org',
  checkedAt: at(1),
  stages: [
    { name: 'name', status: 'ok', detail: 'resolves to 2 addresses', latencyMs: 12 },
    { name: 'certificate', status: 'ok', detail: 'valid 71 days', latencyMs: 88 },
    { name: 'reaches us', status: 'ok', detail: 'the nonce came back', latencyMs: 101 },
    { name: 'unsigned', status: 'warn', detail: 'refused with 403', latencyMs: 97 },
    { name: 'signed', status: 'failed', detail: 'arrived unsigned', latencyMs: null },
    { name: 'exposed', status: 'not_run', detail: '', latencyMs: null },
  ],
  failure: {
    stage: 'signed',
    seen: 'the body arrived whole, 3 of 4 headers',
    cause: 'a rule in front removes headers that begin with X-Hub',
    remedy: 'adjutant tunnel config caddy > Caddyfile',
  },
};

/** A tunnel whose fifth stage failed. */
export const aTunnel = (over: Partial<TunnelView> = {}): TunnelView => ({
  provider: 'cloudflared',
  name: 'named',
  publicUrl: 'https://hooks.example.org',
  publicUrlSetting: false,
  address: 'https://hooks.example.org',
  reach: 'verified',
  tokenSet: true,
  credentialId: null,
  on: true,
  status: 'running',
  since: at(3 * 86_400),
  detail: null,
  pid: 4711,
  restarts: 0,
  nextTryAt: null,
  addressHeader: 'cf-connecting-ip',
  upstream: '127.0.0.1:3005',
  check: aCheck,
  log: [
    { at: at(200), line: 'starting' },
    { at: at(100), line: 'connector registered' },
  ],
  ...over,
});

export const listLoaded = <N extends ListName>(
  name: N,
  rows: RowOf[N][],
  of: string | null = null,
): StateAction[] => {
  const asked = { generation: 20, at: NOW };
  return [
    { type: 'list', name, change: { do: 'ask', of, ...asked } },
    { type: 'list', name, change: { do: 'load', ...asked, rows, nextCursor: null } },
  ];
};

export const anEntry = (over: Partial<KnowledgeEntry> = {}): KnowledgeEntry => ({
  id: 'entry_01',
  orgId: null,
  title: 'Staging',
  sourceType: 'note',
  sourceId: null,
  uri: null,
  tags: ['servers'],
  trust: 'owner',
  chunks: 2,
  chars: 1200,
  language: 'en',
  status: 'ready',
  embeddedWith: 'builtin',
  error: null,
  createdAt: at(120),
  updatedAt: at(120),
  ...over,
});

export const aHit = (over: Partial<SearchHit> = {}): SearchHit => ({
  entryId: 'entry_01',
  chunk: 1,
  title: 'Staging',
  sourceType: 'note',
  sourceId: null,
  uri: 'https://example.org/staging',
  page: 3,
  snippet: 'The staging server is argon.',
  highlights: [[4, 11]],
  score: 1,
  matched: ['word', 'meaning'],
  trust: 'outside',
  ...over,
});

export const aFinding = (query: string, over: Partial<FoundItem> = {}): FoundItem => ({
  id: FOUND,
  query,
  mode: 'hybrid',
  degraded: null,
  results: [aHit()],
  tookMs: 2,
  ...over,
});

export const anOperation = (over: Partial<Operation> = {}): Operation => ({
  id: 'operation_01',
  orgId: null,
  kind: 'hooks.replay',
  resource: { kind: 'hook', id: 'hook_01' },
  title: 'Replay of failed runs',
  status: 'running',
  progress: { done: 800, total: 2000, unit: 'runs', note: '790 replayed, 10 skipped' },
  result: null,
  error: null,
  createdAt: at(60),
  startedAt: at(59),
  finishedAt: null,
  ...over,
});

export const aReport = (over: Partial<ResearchJobDetail> = {}): ResearchJobDetail => ({
  id: 'research_01',
  orgId: null,
  question: 'When was the bridge closed?',
  depth: 'quick',
  sourceKinds: ['web'],
  urls: [],
  model: null,
  limits: { maxSeconds: 120, maxCostUsd: null, maxSources: 8 },
  status: 'completed',
  plan: [{ query: 'bridge closed', why: 'the date' }],
  usage: { modelCalls: 2, inputTokens: 10, outputTokens: 5, costUsd: 0, searches: 1, pages: 2 },
  progress: null,
  operationId: 'operation_01',
  knowledgeId: null,
  error: null,
  createdAt: at(60),
  finishedAt: at(30),
  sources: [
    {
      ...{ n: 1, url: 'https://example.org/bridge', entryId: null, title: 'Bridges' },
      ...{ status: 'read', used: true, sha256: null, error: null, retrievedAt: at(40) },
    },
    {
      ...{ n: 2, url: null, entryId: 'entry_01', title: 'Tolls', status: 'failed', used: false },
      ...{ sha256: null, error: 'The page did not answer', retrievedAt: null },
    },
  ],
  report: {
    markdown: '# Bridge\n\nIt was closed in May [1].',
    sections: [],
    limitations: ['No search provider is set up'],
    unverified: 0,
    model: 'gpt',
  },
  ...over,
});

export const tunnelLoaded = (tunnel: TunnelView): StateAction[] => [
  { type: 'list', name: 'tunnel', change: { do: 'ask', of: null, generation: 10, at: NOW } },
  {
    type: 'list',
    name: 'tunnel',
    change: {
      do: 'load',
      generation: 10,
      rows: [{ ...tunnel, id: 'tunnel' }],
      nextCursor: null,
      at: NOW,
    },
  },
];

export const aLine = (over: Partial<LogEntry> = {}): LogRow => {
  const entry: LogEntry = {
    id: 1,
    at: at(1),
    level: 'info',
    message: 'accepted',
    data: { hook: 'github-issues', ms: 3 },
    ...over,
  };
  return { id: String(entry.id), is: 'line', entry };
};

export const logsLoaded = (rows: LogRow[], level = 'info'): StateAction[] => [
  { type: 'list', name: 'logs', change: { do: 'ask', of: level, generation: 11, at: NOW } },
  {
    type: 'list',
    name: 'logs',
    change: { do: 'load', generation: 11, rows, nextCursor: '9', at: NOW },
  },
];

export const inboxLoaded = (rows: Notification[]): StateAction[] => [
  { type: 'list', name: 'notifications', change: { do: 'ask', of: null, generation: 6, at: NOW } },
  {
    type: 'list',
    name: 'notifications',
    change: { do: 'load', generation: 6, rows, nextCursor: null, at: NOW },
  },
];
export const vaultLoaded = (rows: Credential[]): StateAction[] => [
  { type: 'list', name: 'credentials', change: { do: 'ask', of: null, generation: 7, at: NOW } },
  {
    type: 'list',
    name: 'credentials',
    change: { do: 'load', generation: 7, rows, nextCursor: null, at: NOW },
  },
];
export const agentsLoaded = (rows: Agent[]): StateAction[] => [
  { type: 'list', name: 'agents', change: { do: 'ask', of: null, generation: 4, at: NOW } },
  {
    type: 'list',
    name: 'agents',
    change: { do: 'load', generation: 4, rows, nextCursor: null, at: NOW },
  },
];
export const treeLoaded = (rows: Agent[], of: string): StateAction[] => [
  { type: 'list', name: 'tree', change: { do: 'ask', of, generation: 6, at: NOW } },
  {
    type: 'list',
    name: 'tree',
    change: { do: 'load', generation: 6, rows, nextCursor: null, at: NOW },
  },
];
export const messagesLoaded = (rows: ConversationMessage[], of = 'session_01'): StateAction[] => [
  { type: 'list', name: 'messages', change: { do: 'ask', of, generation: 5, at: NOW } },
  {
    type: 'list',
    name: 'messages',
    change: { do: 'load', generation: 5, rows, nextCursor: '9', at: NOW },
  },
];

export const aNeed = (over: Partial<Need> = {}): Need => ({
  kind: 'approval',
  id: 'approval_01',
  title: 'shell.run',
  detail: 'it has side effects',
  agentId: 'agent_01jcx2kq7m8f3k2a9v5ztw4e6r',
  hookId: null,
  untrusted: true,
  at: new Date(NOW + 514_000).toISOString(),
  ...over,
});

const anOverview = (over: Partial<Overview> = {}): Overview => ({
  version: '1.0.0',
  at: at(0),
  uptimeSeconds: 353_500,
  publicUrl: null,
  reach: 'none',
  parts: [{ name: 'database', status: 'ok', latencyMs: 0.31, detail: '' }],
  queue: { waiting: 3, running: 5, atOnce: 20, oldestMs: 1200 },
  rates: Array.from({ length: 60 }, (_, minute) => (minute === 59 ? 8 : minute % 2)),
  agents: { running: 2, queued: 0, waitingApproval: 1, paused: 0 },
  operations: { running: 0, queued: 0 },
  pipelines: { open: 0, waiting: 0 },
  recurring: { enabled: 0, nextAt: null },
  mailboxes: { total: 0, watched: 0, failing: 0 },
  today: { costUsd: 1.84, limitUsd: 10, agents: 1, executions: 612, failed: 1 },
  needs: [aNeed()],
  unread: 2,
  ...over,
});

export const overviewRead = (over: Partial<Overview> = {}): StateAction[] => [
  { type: 'overview.read', overview: anOverview(over), at: NOW },
];

export const hooksLoaded = (rows: Hook[]): StateAction[] => [
  { type: 'list', name: 'hooks', change: { do: 'ask', of: null, generation: 1, at: NOW } },
  {
    type: 'list',
    name: 'hooks',
    change: { do: 'load', generation: 1, rows, nextCursor: null, at: NOW },
  },
];
export const executionsLoaded = (rows: Execution[], of = 'hook_01'): StateAction[] => [
  { type: 'list', name: 'executions', change: { do: 'ask', of, generation: 2, at: NOW } },
  {
    type: 'list',
    name: 'executions',
    change: { do: 'load', generation: 2, rows, nextCursor: null, at: NOW },
  },
];
export const approvalsLoaded = (rows: Approval[]): StateAction[] => [
  { type: 'list', name: 'approvals', change: { do: 'ask', of: null, generation: 3, at: NOW } },
  {
    type: 'list',
    name: 'approvals',
    change: { do: 'load', generation: 3, rows, nextCursor: null, at: NOW },
  },
];
