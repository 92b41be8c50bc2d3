import type { CliCommand, CommandGroup } from './command.js';

/** The module of each command, loaded only when its name was typed. */
const loaders = {
  quickstart: async () => (await import('./commands/quickstart.js')).quickstart,
  demo: async () => (await import('./commands/demo.js')).demo,
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  up: async () => (await import('./commands/up.js')).up,
  down: async () => (await import('./commands/down.js')).down,
  restart: async () => (await import('./commands/restart.js')).restart,
  status: async () => (await import('./commands/status.js')).status,
  tui: async () => (await import('./commands/tui.js')).tui,
  logs: async () => (await import('./commands/logs.js')).logsCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  tunnel: async () => (await import('./commands/tunnel.js')).tunnelGroup,
  rollback: async () => (await import('./commands/rollback.js')).rollback,
  recover: async () => (await import('./commands/recover.js')).recover,
  register: async () => (await import('./commands/auth.js')).register,
  login: async () => (await import('./commands/auth.js')).login,
  logout: async () => (await import('./commands/auth.js')).logout,
  whoami: async () => (await import('./commands/auth.js')).whoami,
  auth: async () => (await import('./commands/account.js')).account,
  'auth sessions': async () => (await import('./commands/logins.js')).loginsGroup,
  'auth tokens': async () => (await import('./commands/tokens.js')).tokensGroup,
  'auth totp': async () => (await import('./commands/totp.js')).totpGroup,
  'auth passkeys': async () => (await import('./commands/passkeys.js')).passkeysGroup,
  hooks: async () => (await import('./commands/hooks.js')).hooksGroup,
  agents: async () => (await import('./commands/agents.js')).agentsGroup,
  chat: async () => (await import('./commands/chat.js')).chatCommand,
  approvals: async () => (await import('./commands/approvals.js')).approvalsGroup,
  models: async () => (await import('./commands/models.js')).modelsGroup,
  'models routing': async () => (await import('./models/routing.js')).modelRouting,
  'models cli': async () => (await import('./models/tools.js')).modelTools,
  skills: async () => (await import('./commands/skills.js')).skillsGroup,
  'skills permissions': async () => (await import('./commands/permissions.js')).permissionsGroup,
  mcp: async () => (await import('./commands/mcp.js')).mcp,
  experts: async () => (await import('./commands/experts.js')).expertsGroup,
  vault: async () => (await import('./commands/vault.js')).vaultGroup,
  webhooks: async () => (await import('./commands/webhooks.js')).webhooksGroup,
  sessions: async () => (await import('./commands/sessions.js')).sessionsGroup,
  notifications: async () => (await import('./commands/notifications.js')).notificationsGroup,
  channels: async () => (await import('./commands/channels.js')).channelsGroup,
  platforms: async () => (await import('./commands/platforms.js')).platformsGroup,
  users: async () => (await import('./commands/users.js')).usersGroup,
  'users totp': async () => (await import('./users/totp.js')).userTotp,
  'users passkeys': async () => (await import('./users/passkeys.js')).userPasskeys,
  invite: async () => (await import('./commands/users.js')).invite,
  outbox: async () => (await import('./commands/outbox.js')).outboxGroup,
  audit: async () => (await import('./commands/audit.js')).auditGroup,
  backup: async () => (await import('./commands/backup.js')).backup,
  keys: async () => (await import('./commands/keys.js')).keysGroup,
  health: async () => (await import('./commands/health.js')).healthCommand,
  api: async () => (await import('./commands/api.js')).api,
  completion: async () => (await import('./commands/completion.js')).completion,
  help: async () => (await import('./commands/help.js')).help,
} satisfies Record<string, () => Promise<CliCommand | CommandGroup>>;

/** One command or group, by the first word or two of the command line. */
export interface CommandEntry {
  name: string;
  alias?: string;
  summary: string;
  load(): Promise<CliCommand | CommandGroup>;
}

interface EntryLine {
  name: keyof typeof loaders;
  alias?: string;
  summary: string;
}

const lines: { title: string; lines: EntryLine[] }[] = [
  {
    title: 'Start here',
    lines: [
      { name: 'quickstart', summary: 'An account, a first hook, and a line that fires it' },
      { name: 'demo', summary: 'Prove the main job once, on a scratch home' },
    ],
  },
  {
    title: 'The daemon',
    lines: [
      { name: 'serve', summary: 'Run it here, in the foreground' },
      { name: 'up', summary: 'Start it in the background' },
      { name: 'down', summary: 'Stop it; what runs is finished first' },
      { name: 'restart', summary: 'Stop it and start it again' },
      { name: 'status', summary: 'Whether it runs, and how it is' },
      { name: 'tui', summary: 'The desk: everything on one screen, as it happens' },
      { name: 'logs', summary: 'What it has to say' },
      { name: 'doctor', summary: 'Look for what is wrong, and say what to do' },
      { name: 'tunnel', summary: 'How others reach it from outside' },
      { name: 'rollback', summary: 'Go back to before an upgrade' },
      { name: 'recover', summary: 'A new password where every way in is lost' },
    ],
  },
  {
    title: 'Your account',
    lines: [
      { name: 'register', summary: 'Make an account; the first becomes the admin' },
      { name: 'login', summary: 'Log in, and stay so between commands' },
      { name: 'logout', summary: 'Log out, here and at the daemon' },
      { name: 'whoami', summary: 'Who you are, and where' },
      { name: 'auth', summary: 'Your password and your login' },
      { name: 'auth sessions', summary: 'Where you are logged in' },
      { name: 'auth tokens', summary: 'Tokens with which programs act as you' },
      { name: 'auth totp', summary: 'Codes of an authenticator app as a second factor' },
      { name: 'auth passkeys', summary: 'Ways to log in without a password' },
    ],
  },
  {
    title: 'The work',
    lines: [
      { name: 'hooks', alias: 'hook', summary: 'What happens when a signed webhook arrives' },
      { name: 'agents', alias: 'agent', summary: 'The runs that hooks and you began' },
      { name: 'chat', summary: 'Say something, or have a conversation' },
      { name: 'approvals', alias: 'approval', summary: 'Calls of agents that wait for your word' },
      { name: 'models', alias: 'model', summary: 'Who answers: language models, and how they are' },
      { name: 'models routing', summary: 'Which models answer for which topic' },
      { name: 'models cli', summary: 'Tools as models: claude, codex, gemini, opencode' },
      {
        name: 'skills',
        alias: 'skill',
        summary: 'What agents can use: tools, skill folders, MCP servers',
      },
      { name: 'skills permissions', summary: 'What tools may do without asking you' },
      { name: 'mcp', summary: 'Servers that bring further tools' },
      { name: 'experts', alias: 'expert', summary: 'The parts that agents play' },
      { name: 'vault', summary: 'Credentials: used by hooks, models, tools; read by nobody' },
      { name: 'webhooks', summary: 'Whom Adjutant tells, signed, when something happened' },
      { name: 'sessions', summary: 'Conversations and their messages' },
      { name: 'notifications', alias: 'notif', summary: 'What Adjutant has told you' },
      { name: 'channels', summary: 'Where else you speak with Adjutant: chats and webhooks' },
      {
        name: 'platforms',
        alias: 'platform',
        summary: 'The chat platforms that all users may link (admin)',
      },
    ],
  },
  {
    title: 'More',
    lines: [
      { name: 'users', alias: 'user', summary: 'Who has an account, and what they may (admin)' },
      { name: 'users totp', summary: 'Authenticator apps that users lost (admin)' },
      { name: 'users passkeys', summary: 'Passkeys that users lost (admin)' },
      { name: 'invite', summary: 'Ask somebody in (admin)' },
      { name: 'outbox', summary: 'What goes to channels and webhooks, and failures (admin)' },
      { name: 'audit', summary: 'Who did what, in a log that shows a change (admin)' },
      { name: 'backup', summary: 'Copies of everything: make, prove, restore' },
      { name: 'keys', summary: 'The keys that sign tokens (admin)' },
      { name: 'health', summary: 'Whether the daemon is well, part by part' },
      { name: 'api', summary: 'Any request to the API' },
      { name: 'completion', summary: 'Let your shell complete' },
      { name: 'help', summary: 'Help on a command or a topic' },
    ],
  },
];

/** Every command, in the order of `adjutant --help`. */
export const sections: { title: string; entries: CommandEntry[] }[] = lines.map(
  ({ title, lines }) => ({
    title,
    entries: lines.map((line) => ({ ...line, load: loaders[line.name] })),
  }),
);

const entries = sections.flatMap((section) => section.entries);

/** Finds the entry by the first two words of a command line, or its first. */
export const entryOf = ([first = '', second = '']: string[]): CommandEntry | undefined =>
  entries.find(({ name }) => name === `${first} ${second}`) ??
  entries.find(({ name, alias }) => name === first || alias === first);

export const entryNames = (): string[] => entries.map(({ name }) => name);
