import type { CliCommand, CommandGroup } from './command.js';

/** The module of each command, loaded only when its name was typed. */
const loaders = {
  quickstart: async () => (await import('./commands/quickstart.js')).quickstart,
  demo: async () => (await import('./commands/demo.js')).demo,
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  up: async () => (await import('./commands/up.js')).up,
  down: async () => (await import('./commands/up.js')).down,
  restart: async () => (await import('./commands/up.js')).restart,
  status: async () => (await import('./commands/status.js')).status,
  tui: async () => (await import('./commands/tui.js')).tui,
  logs: async () => (await import('./commands/logs.js')).logsCommand,
  doctor: async () => (await import('./commands/health.js')).doctorCommand,
  tunnel: async () => (await import('./commands/tunnel.js')).tunnelGroup,
  rollback: async () => (await import('./commands/recover.js')).rollback,
  recover: async () => (await import('./commands/recover.js')).recover,
  register: async () => (await import('./commands/auth.js')).register,
  login: async () => (await import('./commands/auth.js')).login,
  logout: async () => (await import('./commands/auth.js')).logout,
  whoami: async () => (await import('./commands/auth.js')).whoami,
  auth: async () => (await import('./commands/account.js')).account,
  'auth sessions': async () => (await import('./commands/account.js')).loginsGroup,
  'auth tokens': async () => (await import('./commands/account.js')).tokensGroup,
  'auth totp': async () => (await import('./commands/factors.js')).totpGroup,
  'auth passkeys': async () => (await import('./commands/factors.js')).passkeysGroup,
  hooks: async () => (await import('./commands/hooks.js')).hooksGroup,
  recurring: async () => (await import('./commands/recurringtasks.js')).recurringGroup,
  agents: async () => (await import('./commands/agents.js')).agentsGroup,
  chat: async () => (await import('./commands/chat.js')).chatCommand,
  approvals: async () => (await import('./commands/approvals.js')).approvalsGroup,
  'approvals grants': async () => (await import('./commands/grants.js')).grantsGroup,
  models: async () => (await import('./commands/models.js')).modelsGroup,
  'models routing': async () => (await import('./models/groups.js')).modelRouting,
  'models cli': async () => (await import('./models/groups.js')).modelTools,
  capabilities: async () => (await import('./commands/capabilities.js')).capabilitiesGroup,
  hardware: async () => (await import('./capabilities/hardware.js')).hardwareCommand,
  skills: async () => (await import('./commands/skills.js')).skillsGroup,
  'skills permissions': async () => (await import('./commands/skills.js')).permissionsGroup,
  mcp: async () => (await import('./commands/mcp.js')).mcp,
  experts: async () => (await import('./commands/experts.js')).expertsGroup,
  documents: async () => (await import('./commands/documents.js')).documentsGroup,
  memories: async () => (await import('./commands/memories.js')).memoriesGroup,
  knowledge: async () => (await import('./commands/knowledge.js')).knowledgeGroup,
  'knowledge folders': async () => (await import('./commands/knowledge.js')).foldersGroup,
  pipelines: async () => (await import('./commands/pipelines.js')).pipelinesGroup,
  'pipelines templates': async () => (await import('./pipelines/templates.js')).templatesGroup,
  vault: async () => (await import('./commands/vault.js')).vaultGroup,
  webhooks: async () => (await import('./commands/webhooks.js')).webhooksGroup,
  sessions: async () => (await import('./commands/chat.js')).sessionsGroup,
  reader: async () => (await import('./commands/reader.js')).readerGroup,
  research: async () => (await import('./commands/research.js')).researchGroup,
  voice: async () => (await import('./commands/voice.js')).voiceGroup,
  tasks: async () => (await import('./commands/tasks.js')).tasksGroup,
  'tasks feed': async () => (await import('./commands/tasks.js')).taskFeedGroup,
  email: async () => (await import('./email/setup.js')).emailGroup,
  'email accounts': async () => (await import('./email/accounts.js')).mailAccountsGroup,
  'email drafts': async () => (await import('./email/drafts.js')).mailDraftsGroup,
  'email sent': async () => (await import('./email/sentmail.js')).sentMailGroup,
  operations: async () => (await import('./commands/operations.js')).operationsGroup,
  notifications: async () => (await import('./commands/notifications.js')).notificationsGroup,
  channels: async () => (await import('./commands/channels.js')).channelsGroup,
  platforms: async () => (await import('./commands/platforms.js')).platformsGroup,
  users: async () => (await import('./commands/users.js')).usersGroup,
  'users totp': async () => (await import('./commands/factors.js')).userTotp,
  'users passkeys': async () => (await import('./commands/factors.js')).userPasskeys,
  invite: async () => (await import('./commands/users.js')).invite,
  outbox: async () => (await import('./commands/admin.js')).outboxGroup,
  audit: async () => (await import('./commands/admin.js')).auditGroup,
  backup: async () => (await import('./commands/backup.js')).backup,
  keys: async () => (await import('./commands/admin.js')).keysGroup,
  health: async () => (await import('./commands/health.js')).healthCommand,
  api: async () => (await import('./commands/api.js')).api,
  completion: async () => (await import('./commands/help.js')).completion,
  help: async () => (await import('./commands/help.js')).help,
} satisfies Record<string, () => Promise<CliCommand | CommandGroup>>;

/** A sentence on each command, under titles and in the order of `adjutant --help`. */
const summaries: Record<string, Partial<Record<keyof typeof loaders, string>>> = {
  'Start here': {
    quickstart: 'Make an account, a first hook and a test of it',
    demo: 'Show the main job once, in a temporary folder',
  },
  'The daemon': {
    serve: 'Run the daemon in the foreground',
    up: 'Start the daemon in the background',
    down: 'Stop the daemon; what runs is finished first',
    restart: 'Stop the daemon and start it again',
    status: 'Show whether the daemon runs, and its state',
    tui: 'Open the desk: everything on one screen, live',
    logs: 'Read or follow the log of the daemon',
    doctor: 'Find problems, and what to do about them',
    tunnel: 'Make the daemon reachable from the internet',
    rollback: 'Restore the database as it was before an upgrade',
    recover: 'Set a new password when no login works any more',
  },
  'Your account': {
    register: 'Make an account; the first becomes the admin',
    login: 'Log in, and stay logged in between commands',
    logout: 'Log out, here and at the daemon',
    whoami: 'Show who is logged in, and where',
    auth: 'Your password and your login',
    'auth sessions': 'Where you are logged in',
    'auth tokens': 'Tokens with which programs act as you',
    'auth totp': 'Codes of an authenticator app as a second factor',
    'auth passkeys': 'Ways to log in without a password',
  },
  'The work': {
    hooks: 'What happens when a signed webhook arrives',
    recurring: 'What is done at the times of a schedule',
    agents: 'Agents that hooks and you started',
    chat: 'Send a message, or have a conversation',
    approvals: 'Calls of agents that wait for your approval',
    'approvals grants': 'Approvals that stand, for a conversation or a host',
    models: 'Language models, and their state',
    'models routing': 'Which models answer for which topic',
    'models cli': 'Tools as models: claude, codex, gemini, opencode',
    capabilities: 'What is installed here: models, engines, languages',
    hardware: 'This machine, and the models that fit it',
    skills: 'What agents can use: tools, skill folders, MCP servers',
    'skills permissions': 'What tools may do without asking you',
    mcp: 'Servers that bring further tools',
    pipelines: 'Work in stages: start runs, answer them, apply templates',
    'pipelines templates': 'Templates of pipelines, yours and those that ship',
    experts: 'Experts: instructions that agents follow',
    documents: 'Files, and the text that is read from them',
    memories: 'What assistants remember of you',
    knowledge: 'Your notes and texts, and the search in them',
    'knowledge folders': 'Folders of the machine whose files are knowledge',
    vault: 'Credentials for hooks, models and tools',
    webhooks: 'Outgoing webhooks: signed events to your services',
    sessions: 'Conversations and their messages',
    reader: 'Pages of the web, read for you',
    research: 'Questions, answered from the web and your knowledge',
    voice: 'Speech that becomes text',
    tasks: 'What you have to do, with reminders',
    'tasks feed': 'The address at which calendars read your tasks',
    email: 'Your mailboxes',
    'email accounts': 'Mailboxes: their servers, logins, and a test of them',
    'email drafts': 'E-mails that are not sent yet',
    'email sent': 'E-mails that you have sent, and what became of them',
    operations: 'Long pieces of work: how far they are',
    notifications: 'Your notifications',
    channels: 'Chats and webhooks that are linked to you',
    platforms: 'The chat platforms that all users may link (admin)',
  },
  More: {
    users: 'Accounts and their roles (admin)',
    'users totp': 'Authenticator apps that users lost (admin)',
    'users passkeys': 'Passkeys that users lost (admin)',
    invite: 'Invite somebody (admin)',
    outbox: 'Messages to channels and webhooks, and failures (admin)',
    audit: 'Who did what, in a log that proves its integrity (admin)',
    backup: 'Create, verify and restore backups',
    keys: 'The keys that sign tokens (admin)',
    health: 'The health of the daemon, part by part',
    api: 'Send any request to the API',
    completion: 'Set up completion in your shell',
    help: 'Help on a command or a topic',
  },
};

/** Groups that are known by their singular, too. */
const SINGULARS = [
  'hooks',
  'agents',
  'approvals',
  'models',
  'skills',
  'experts',
  'tasks',
  'platforms',
  'users',
];

const aliasOf = (name: string): string | undefined => {
  if (name === 'notifications') return 'notif';
  if (name === 'recurring') return 'recurring-tasks';
  return SINGULARS.includes(name) ? name.slice(0, -1) : undefined;
};

/** One command or group, by the first word or two of the command line. */
export interface CommandEntry {
  name: string;
  alias?: string;
  summary: string;
  load(): Promise<CliCommand | CommandGroup>;
}

const entriesIn = (about: Record<string, string>): CommandEntry[] =>
  Object.entries(loaders)
    .filter(([name]) => about[name] !== undefined)
    .map(([name, load]) => ({ name, alias: aliasOf(name), summary: about[name] ?? '', load }));

/** Every command, in the order of `adjutant --help`. */
export const sections = Object.entries(summaries).map(([title, about]) => ({
  title,
  entries: entriesIn(about),
}));

const entries = sections.flatMap((section) => section.entries);

/** Finds the entry by the first two words of a command line, or its first. */
export const entryOf = ([first = '', second = '']: string[]): CommandEntry | undefined =>
  entries.find(({ name }) => name === `${first} ${second}`) ??
  entries.find(({ name, alias }) => name === first || alias === first);

/** The entries whose names go on from that of a group: `email accounts` of `email`. */
export const entriesBelow = (name: string): CommandEntry[] =>
  entries.filter((entry) => entry.name.startsWith(`${name} `));

export const entryNames = (): string[] => entries.map(({ name }) => name);
