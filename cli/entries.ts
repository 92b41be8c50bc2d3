import type { CliCommand, CommandGroup } from './command.js';

/** Loaders, so that only the module of the typed command is loaded. */
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
  orgs: async () => (await import('./commands/orgs.js')).orgsGroup,
  'orgs members': async () => (await import('./commands/orgs.js')).orgMembersGroup,
  'orgs invites': async () => (await import('./commands/orgs.js')).orgInvitesGroup,
  'orgs sso': async () => (await import('./commands/orgsso.js')).orgSsoGroup,
  'orgs domains': async () => (await import('./commands/orgsso.js')).orgDomainsGroup,
  'orgs scim': async () => (await import('./commands/orgsso.js')).orgScimGroup,
  'orgs admin': async () => (await import('./commands/orgs.js')).orgAdminGroup,
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

/** Summaries by section, in the order of `adjutant --help`. */
const summaries: Record<string, Partial<Record<keyof typeof loaders, string>>> = {
  'Start here': {
    quickstart: 'Set up an account and a first hook',
    demo: 'Run a demo hook and agent in a temporary folder',
  },
  'The daemon': {
    serve: 'Run the daemon in the foreground',
    up: 'Start the daemon in the background',
    down: 'Stop the daemon after running work finishes',
    restart: 'Restart the daemon',
    status: 'Show the status of the daemon',
    tui: 'Open the interactive terminal interface',
    logs: 'Show the log of the daemon',
    doctor: 'Find problems and show how to fix them',
    tunnel: 'Manage the tunnel and the public address',
    rollback: 'Restore the database snapshot made before an upgrade',
    recover: 'Set a new password while the daemon is stopped',
  },
  'Your account': {
    register: 'Create an account (the first account is the admin)',
    login: 'Log in and store the login session',
    logout: 'Log out and end the login session',
    whoami: 'Show the current user and the daemon',
    auth: 'Manage your password and logins',
    'auth sessions': 'Manage your login sessions',
    'auth tokens': 'Manage access tokens for programs',
    'auth totp': 'Manage your authenticator app',
    'auth passkeys': 'Manage your passkeys',
  },
  'The work': {
    hooks: 'Manage hooks',
    recurring: 'Manage recurring tasks',
    agents: 'Manage agents',
    chat: 'Send a message to an agent, or start a chat',
    approvals: 'Manage approvals of tool calls',
    'approvals grants': 'Manage standing approvals',
    models: 'Manage language models',
    'models routing': 'Manage model routing by topic',
    'models cli': 'Manage command-line tools that serve as models',
    capabilities: 'Manage installed models, engines and languages',
    hardware: 'Show the hardware and the compatible models',
    skills: 'Manage skills and their tools',
    'skills permissions': 'Manage permission levels of tools',
    mcp: 'Manage MCP servers',
    pipelines: 'Manage pipeline runs',
    'pipelines templates': 'Manage pipeline templates',
    experts: 'Manage experts: instructions for agents',
    documents: 'Manage documents and their text',
    memories: 'Manage memories about you',
    knowledge: 'Manage and search knowledge entries',
    'knowledge folders': 'Manage folders that are indexed as knowledge',
    vault: 'Manage credentials for hooks, models and tools',
    webhooks: 'Manage outgoing webhooks',
    sessions: 'Read conversations and messages',
    reader: 'Read web pages as text',
    research: 'Run research jobs',
    voice: 'Transcribe speech',
    tasks: 'Manage to-do tasks and reminders',
    'tasks feed': 'Manage the calendar feed of your tasks',
    email: 'Manage e-mail',
    'email accounts': 'Manage mail accounts',
    'email drafts': 'Manage e-mail drafts',
    'email sent': 'Manage sent e-mails',
    operations: 'Track long-running operations',
    notifications: 'Manage notifications',
    channels: 'Manage linked chats and addresses',
    platforms: 'Manage chat platforms (admin)',
  },
  More: {
    users: 'Manage user accounts (admin)',
    'users totp': 'Manage authenticator apps of other users (admin)',
    'users passkeys': 'Manage passkeys of other users (admin)',
    orgs: 'Manage organizations',
    'orgs members': 'Manage the members of an organization',
    'orgs invites': 'Manage invites to an organization',
    'orgs sso': 'Manage single sign-on of an organization (SAML)',
    'orgs domains': 'Manage the domains of an organization',
    'orgs scim': 'Manage user provisioning of an organization (SCIM)',
    'orgs admin': 'Manage all organizations (admin)',
    invite: 'Create an invite link for one account (admin)',
    outbox: 'Manage outbound messages (admin)',
    audit: 'Read and verify the audit log (admin)',
    backup: 'Manage backups',
    keys: 'Manage token signing keys (admin)',
    health: 'Show the health of the daemon',
    api: 'Send a request to the API',
    completion: 'Print a completion script for your shell',
    help: 'Show help on a command or a topic',
  },
};

/** Groups that also accept their singular. */
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
  'orgs',
];

const findEntryAlias = (name: string): string | undefined => {
  if (name === 'notifications') return 'notif';
  if (name === 'recurring') return 'recurring-tasks';
  if (name === 'status') return 'overview';
  return SINGULARS.includes(name) ? name.slice(0, -1) : undefined;
};

export interface CommandEntry {
  name: string;
  alias?: string;
  summary: string;
  load(): Promise<CliCommand | CommandGroup>;
}

const entriesIn = (about: Record<string, string>): CommandEntry[] =>
  Object.entries(loaders)
    .filter(([name]) => about[name] !== undefined)
    .map(([name, load]) => ({
      name,
      alias: findEntryAlias(name),
      summary: about[name] ?? '',
      load,
    }));

export const sections = Object.entries(summaries).map(([title, about]) => ({
  title,
  entries: entriesIn(about),
}));

const entries = sections.flatMap((section) => section.entries);

export const findCommandEntry = ([first = '', second = '']: string[]): CommandEntry | undefined =>
  entries.find(({ name }) => name === `${first} ${second}`) ??
  entries.find(({ name, alias }) => name === first || alias === first);

/** The entries below a group: `email accounts` of `email`. */
export const entriesBelow = (name: string): CommandEntry[] =>
  entries.filter((entry) => entry.name.startsWith(`${name} `));

export const entryNames = (): string[] => entries.map(({ name }) => name);
